"""Device, dtype and memory are decided in one place."""

import platform
import resource

import pytest
import torch

from presto.models import device
from presto.models.device import dtype_name, keep_freed_memory, pick_device, pick_dtype

BECAUSE = "the CPU decodes, because torch cannot use the GPU here: "


def test_dtypes_by_name() -> None:
    cpu = torch.device("cpu")
    assert pick_dtype("float32", cpu) == torch.float32
    assert dtype_name(torch.bfloat16) == "bfloat16"
    with pytest.raises(
        ValueError, match="dtype must be one of auto, float32, bfloat16, float16; got 'int4'"
    ):
        pick_dtype("int4", cpu)


@pytest.mark.parametrize(("native", "dtype"), [(True, "bfloat16"), (False, "float16")])
def test_a_gpu_without_bfloat16_decodes_in_float16(
    native: bool, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: native)
    assert dtype_name(pick_dtype("auto", torch.device("cuda"))) == dtype


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("The NVIDIA driver on your system is too old (found version 11040).\nUpdate it", True),
        ("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", False),
    ],
)
def test_a_gpu_that_cannot_be_used_is_told(
    message: str, told: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError(message)

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", fail)
    device._why_no_gpu.cache_clear()
    try:
        assert pick_device() == torch.device("cpu")
    finally:
        device._why_no_gpu.cache_clear()
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ([f"{BECAUSE}{message.splitlines()[0]}"] if told else [])


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
