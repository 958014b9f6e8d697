"""Array types shared by the package."""

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "ByteArray", "FloatArray", "IndexArray", "IntArray"]

BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]
# Positions in other arrays, unsigned: compiled code then does not check each of them for being negative, and
# vectorises the loop.
IndexArray = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int64]
