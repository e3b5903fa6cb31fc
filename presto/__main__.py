"""``python -m presto``: the command line."""

from presto.commands.main import main

if __name__ == "__main__":
    main()
