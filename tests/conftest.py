"""Property tests may wait for a compiler: no deadline per example. Engine tests run on every device
present.
"""

import pytest
import torch
from hypothesis import settings

from tests.support.examples import examples

settings.register_profile("presto", deadline=None, max_examples=examples(100))
settings.load_profile("presto")
torch.set_num_threads(
    1
)  # tiny models: threads that wait for each other cost many times what they give
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]


@pytest.fixture(scope="session", params=DEVICES)
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.param)
