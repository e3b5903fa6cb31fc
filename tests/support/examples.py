"""How many examples the property tests take."""

import os

LARGEST = 200  # of the largest property: speculative output is autoregressive output


def examples(usual: int) -> int:
    """``usual``, or more or fewer in proportion where ``PRESTO_EXAMPLES`` names another number for
    the largest property.
    """
    asked = int(os.environ.get("PRESTO_EXAMPLES", LARGEST))
    return max(1, usual * asked // LARGEST)
