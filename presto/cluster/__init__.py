"""Work on several machines or devices by Ray, an optional extra; nothing outside imports it."""
