"""How a command ends when it cannot do what was asked: one sentence and exit code 2."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from presto.models.catalogue import WeightsError

REFUSED = 2


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the process with the sentence of a ``ValueError``, ``WeightsError`` or ``OSError``."""
    try:
        yield
    except (ValueError, WeightsError) as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"{error.strerror or error}: {error.filename or ''}"
    else:
        return
    print(f"presto: {sentence}", file=sys.stderr)
    sys.exit(REFUSED)
