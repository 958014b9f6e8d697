"""Kernels that count no references must not pass arrays on: nobody would keep them alive."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_type_hints

import solver.kernels


def uncounted() -> Iterator[Any]:
    for module in pkgutil.iter_modules(solver.kernels.__path__):
        for kernel in vars(importlib.import_module(f"solver.kernels.{module.name}")).values():
            if not getattr(kernel, "targetoptions", {}).get("_nrt", True):
                yield kernel.py_func


def test_kernels_that_count_no_references_return_numbers() -> None:
    returned = {kernel.__qualname__: get_type_hints(kernel)["return"] for kernel in uncounted()}
    assert len(returned) > 30
    numbers = (
        type(None),
        bool,
        int,
        float,
        tuple[float, bool],
        tuple[float, float],
        tuple[int, bool],
        tuple[float, int],
        tuple[int, int],
    )
    assert {name for name, kind in returned.items() if kind not in numbers} == set()
