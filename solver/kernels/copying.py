"""Copies in loops: numba compiles an assignment of arrays together with its error messages, which takes seconds."""

from typing import TypeVar

from solver.arrays import FloatArray, IntArray
from solver.kernels.compile import lean

__all__ = ["copy_into"]

A = TypeVar("A", FloatArray, IntArray)


@lean
def copy_into(target: A, source: A) -> None:
    """Write all numbers of a column to another one of the same length."""
    for j in range(source.size):
        target[j] = source[j]
