"""The IDX format of MNIST and Fashion-MNIST: a magic number, the dimensions, then bytes."""

import gzip
import struct

import numpy as np
from numpy.typing import NDArray

from fedl_sim.errors import DataSetError

__all__ = ["parse_idx", "read_idx_gz"]

_UNSIGNED_BYTE = 0x08


def parse_idx(raw: bytes) -> NDArray[np.uint8]:
    """Parse an IDX file of unsigned bytes; any number of dimensions.

    Raises:
        DataSetError: the bytes are not an IDX file, or their length contradicts the header.
    """
    if len(raw) < 4:
        raise DataSetError("an IDX file has at least a four-byte magic number")
    zero, kind, dimensions = struct.unpack(">HBB", raw[:4])
    if zero != 0 or kind != _UNSIGNED_BYTE or dimensions == 0:
        raise DataSetError("not an IDX file of unsigned bytes")
    start = 4 + 4 * dimensions
    if len(raw) < start:
        raise DataSetError("the IDX header is cut short")
    shape = struct.unpack(f">{dimensions}I", raw[4:start])
    values = np.frombuffer(raw, np.uint8, offset=start)
    if values.size != np.prod(shape, dtype=object):
        raise DataSetError(f"the IDX header promises {shape} values, the file holds {values.size}")
    return values.reshape(shape)


def read_idx_gz(packed: bytes) -> NDArray[np.uint8]:
    """Unpack and parse a gzipped IDX file."""
    try:
        return parse_idx(gzip.decompress(packed))
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise DataSetError(f"not a whole gzip file: {error}") from error
