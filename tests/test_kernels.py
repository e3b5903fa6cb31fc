"""The compiled kernels: nothing left to compile after the warm-up, nothing read past an array."""

import os
import subprocess
import sys

import numba

import presto.kernels.compiler as compiler


def in_a_process_of_its_own(check: str, **environment: str) -> None:
    code = f"from tests.support import kernels; kernels.{check}()"
    command = [sys.executable, "-c", code]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert result.returncode == 0, result.stderr


def test_after_the_warm_up_nothing_is_left_to_compile() -> None:
    in_a_process_of_its_own("check_warm_up")


def test_no_kernel_leaves_its_arrays() -> None:
    folder = f"{numba.config.CACHE_DIR}-bounds"
    in_a_process_of_its_own("check_bounds", NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=folder)


def test_the_cache_is_keyed_by_every_file_with_a_kernel() -> None:
    from tests.support.kernels import dispatchers

    files = {function.py_func.__code__.co_filename for function in dispatchers().values()}
    assert files <= {str(path) for path in compiler.SOURCES}
