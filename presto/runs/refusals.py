"""How a command ends when it cannot do what was asked: one sentence and exit code 2; or when it was
stopped: one sentence and the signal's exit code.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from presto.models.catalogue import WeightsError
from presto.runs.stopping import StoppedError

REFUSED = 2


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the process with the sentence of a ``ValueError``, ``WeightsError``, ``OSError`` or
    ``StoppedError``.
    """
    code = REFUSED
    try:
        yield
    except StoppedError as error:
        sentence, code = str(error), error.exit_code
    except (ValueError, WeightsError) as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"{error.strerror or error}: {error.filename or ''}"
    else:
        return
    print("presto:", " ".join(sentence.split()), file=sys.stderr)
    sys.exit(code)
