"""Memory that is given back: what a process holds is what it uses."""

import os
import platform

import pytest
import torch

from presto.models.memory import release
from tests.support.process import usage


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the heap of the GNU C library")
def test_what_was_freed_between_blocks_in_use_is_given_back() -> None:
    blocks = [torch.ones(25_000) for _ in range(3_000)]  # of 100 kB, which the heap holds
    full = usage(os.getpid()).megabytes
    used = blocks[::100]
    del blocks
    release()
    assert usage(os.getpid()).megabytes < full - 200
    assert all(block.sum() == 25_000 for block in used)
