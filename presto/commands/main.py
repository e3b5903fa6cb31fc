"""Where the command line begins: plugins first, since the options list what they bring."""

import logging
import sys

import typer

from presto import plugins
from presto.models.catalogue import WeightsError


def main() -> None:
    """Run the command line; a bad request ends with one sentence and exit code 2."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        plugins.load_named()
        arguments = plugins.take_options(sys.argv[1:])
        from presto.commands.app import app

        app(arguments)
    except (ValueError, WeightsError) as error:
        typer.echo(f"presto: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"presto: {error.strerror or error}: {error.filename or ''}", err=True)
        sys.exit(2)
