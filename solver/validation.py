"""Checks of numbers and arrays: each returns the checked value or raises an `InvalidInputError`."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from solver.arrays import BoolArray, FloatArray, IntArray
from solver.errors import InvalidInputError

__all__ = [
    "as_column",
    "as_count",
    "as_device_set",
    "as_indices",
    "as_matrix",
    "as_number",
    "frozen",
    "reject_first",
]


# A tuple, because a union type is built anew at every check and a small step is solved in tens of microseconds.
_NUMBERS = (int, float, np.integer, np.floating)


def reject_first(bad: BoolArray, values: npt.NDArray[Any], field: str, reason: str) -> None:
    """Raise for the first entry marked bad, if any."""
    # Counting takes a tenth of the time of `any` for the few devices of a sample.
    if np.count_nonzero(bad):
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        index = int(place[0]) if bad.ndim == 1 else tuple(int(p) for p in place)
        raise InvalidInputError(field, reason, index=index, value=values[place].item())


def as_column(values: npt.ArrayLike, field: str, *, length: int | None = None, high: float | None = None) -> FloatArray:
    """A read-only float64 column of finite numbers ≥ 0 (and ≤ high), of the given length."""
    column = _as_floats(values, field)
    if column.ndim != 1:
        raise InvalidInputError(field, f"must be a flat list of numbers, has {column.ndim} dimensions")
    if length is not None and column.size != length:
        raise InvalidInputError(field, f"must have {length} entries, has {column.size}")
    _check_range(column, field, high)
    return frozen(column)


def as_matrix(
    values: npt.ArrayLike,
    field: str,
    *,
    rows: int,
    columns: int | None = None,
    high: float | None = None,
    signed: bool = False,
) -> FloatArray:
    """A read-only float64 matrix of finite numbers ≥ 0 (and ≤ high) with the given shape; of any sign if `signed`."""
    matrix = _as_floats(values, field)
    if matrix.ndim != 2 or matrix.shape[0] != rows or (columns is not None and matrix.shape[1] != columns):
        wanted = f"{rows}×{'?' if columns is None else columns}"
        raise InvalidInputError(field, f"must have shape {wanted}, has {'×'.join(map(str, matrix.shape))}")
    _check_range(matrix, field, high, signed=signed)
    return frozen(matrix)


def as_indices(values: npt.ArrayLike, field: str, *, below: int | None = None) -> IntArray:
    """A read-only int64 column of indices ≥ 0 (and < below). Floats are refused, even whole ones."""
    column = _as_array(values, field)
    if column.size == 0:
        column = column.astype(np.int64)
    if column.ndim != 1 or column.dtype.kind not in "iu":
        raise InvalidInputError(field, f"must be a flat list of integers, is {column.ndim}-d {column.dtype}")
    if column.dtype.kind == "u":
        reject_first(column > np.iinfo(np.int64).max, column, field, "is too large for an index")
    column = column.astype(np.int64)
    reject_first(column < 0, column, field, "must be at least 0")
    if below is not None:
        reject_first(column >= below, column, field, f"must be below the number of devices, {below}")
    return frozen(column)


def as_device_set(values: npt.ArrayLike, field: str, *, n_devices: int) -> IntArray:
    """Distinct device indices, in the order given."""
    devices = as_indices(values, field, below=n_devices)
    # Python's sets are faster than sorting for the few devices of a sample.
    if len(set(devices.tolist())) < devices.size:
        repeated = np.ones(devices.size, dtype=np.bool_)
        repeated[np.unique(devices, return_index=True)[1]] = False
        reject_first(repeated, devices, field, "is named twice")
    return devices


def as_number(value: float, field: str, *, low: float = 0.0, strict: bool = False) -> float:
    """A finite number ≥ low (> low if strict)."""
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        raise InvalidInputError(field, f"must be a number, is {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidInputError(field, "is too large") from None
    if not math.isfinite(number):
        raise InvalidInputError(field, f"must be finite, is {number}")
    if number < low or (strict and number == low):
        raise InvalidInputError(field, f"must be {'above' if strict else 'at least'} {low:g}, is {number:g}")
    return number


def as_count(value: int, field: str, *, low: int = 1) -> int:
    """An integer ≥ low."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInputError(field, f"must be an integer, is {type(value).__name__}")
    if value < low:
        raise InvalidInputError(field, f"must be at least {low}, is {value}")
    return int(value)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same data, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.view()
        array.setflags(write=False)
    return array


def _as_array(values: npt.ArrayLike, field: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInputError(field, "must be a regular array of numbers; its rows differ in length") from None


def _as_floats(values: npt.ArrayLike, field: str) -> FloatArray:
    array = _as_array(values, field)
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidInputError(field, f"must hold numbers, holds {array.dtype}")
    # A copy: later changes of the caller's array must not change the validated one.
    return np.array(array, dtype=np.float64, order="C")


def _check_range(values: FloatArray, field: str, high: float | None, *, signed: bool = False) -> None:
    reject_first(~np.isfinite(values), values, field, "must be finite")
    if not signed:
        reject_first(values < 0, values, field, "must be at least 0")
    if high is not None:
        reject_first(values > high, values, field, f"must be at most {high:g}")
