"""Property tests may wait for a compiler: no deadline per example. Engine tests run on every device
present.
"""

import os

# Tiny models, here and in the processes that tests start: threads that wait for each other cost
# many times what they give.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import torch
from hypothesis import settings

from tests.support.examples import examples

settings.register_profile("presto", deadline=None, max_examples=examples(100))
settings.load_profile("presto")
torch.set_num_threads(1)
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]


@pytest.fixture(scope="session", params=DEVICES)
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.param)
