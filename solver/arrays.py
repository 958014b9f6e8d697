"""Array types shared by the package."""

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "ByteArray", "FloatArray", "IntArray"]

BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
