"""Device, dtype and memory are decided in one place."""

import platform
import resource

import pytest
import torch

from presto.models.device import dtype_name, keep_freed_memory, pick_dtype


def test_dtypes_by_name() -> None:
    cpu = torch.device("cpu")
    assert pick_dtype("float32", cpu) == torch.float32
    assert pick_dtype("auto", torch.device("cuda")) == torch.bfloat16
    assert dtype_name(torch.bfloat16) == "bfloat16"
    with pytest.raises(
        ValueError, match="dtype must be one of auto, float32, bfloat16; got 'int4'"
    ):
        pick_dtype("int4", cpu)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_kept_memory_is_not_faulted_in_again() -> None:
    def faults_of_large_buffers() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(20):
            torch.zeros(12_000_000)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    keep_freed_memory()
    faults_of_large_buffers()
    assert faults_of_large_buffers() < 12_000
