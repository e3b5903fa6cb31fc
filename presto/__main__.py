"""``python -m presto``: the command line of ``presto.commands``."""

from presto.commands.app import main

if __name__ == "__main__":
    main()
