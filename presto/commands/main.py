"""Where the command line begins: plugins first, since the options list what they bring."""

import logging
import sys

from presto import plugins
from presto.runs.refusals import in_one_sentence


def main() -> None:
    """Run the command line; a bad request ends with one sentence and exit code 2."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    with in_one_sentence():
        plugins.load_named()
        arguments = plugins.take_options(sys.argv[1:])
        from presto.commands.app import app

        app(arguments)
