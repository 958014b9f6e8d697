"""Reads .npz archives of plain arrays. Nothing is unpickled, and nothing is expanded before its memory is charged."""

import ast
import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Collection
from typing import IO

import numpy as np
from numpy.typing import NDArray

from app.http.problems import MalformedError, TooLargeError
from app.wire.budget import charge
from app.wire.estimate import archive_entries

__all__ = ["read_arrays"]

# What the standard library raises for archives that are broken in one way or another.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 1000
_PLAIN_TYPE = re.compile(r"[<>=|]?(f[248]|[iu][1248])")


def read_arrays(body: bytes, names: Collection[str], *, most: int) -> dict[str, NDArray[np.generic]]:
    """The arrays of an archive that have these names; it may hold at most so many arrays of any name.

    Raises:
        MalformedError: no archive of plain arrays; says which array and why.
        TooLargeError: it needs more memory than there is for requests.
    """
    # The directory is read as a whole: each of its entries begins with this signature.
    charge(archive_entries(body.count(b"PK\x01\x02")), "the archive's directory")
    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            entries = archive.infolist()
            if len(entries) > most:
                raise TooLargeError(f"an archive may hold {most} arrays")
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                if name in arrays:
                    raise MalformedError(f"the archive holds `{name}` twice")
                if name in names:
                    arrays[name] = _read_entry(archive, entry, name)
    except _BROKEN:
        raise MalformedError("the body is not an archive of plain arrays") from None
    return arrays


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> NDArray[np.generic]:
    if entry.flag_bits & _ENCRYPTED:
        raise _bad(name, "is encrypted")
    if entry.compress_type not in _COMPRESSIONS:
        raise _bad(name, "must be stored or deflated")
    charge(entry.file_size, f"the array `{name}`")
    try:
        with archive.open(entry) as stream:
            return _read_array(stream, entry.file_size, name)
    except _BROKEN as error:
        reason = "does not match its checksum" if "CRC" in str(error) else "is damaged"
        raise _bad(name, reason) from None


def _read_array(stream: IO[bytes], size: int, name: str) -> NDArray[np.generic]:
    """One .npy file of this size. Its header must announce exactly the bytes that follow."""
    header, start = _header(stream, name)
    dtype, shape = _plain_type(header, name), _plain_shape(header, name)
    count = math.prod(shape)
    if count * dtype.itemsize != size - start:
        raise _bad(name, f"announces {count} numbers of {dtype.itemsize} bytes, and {size - start} bytes follow")
    if dtype.itemsize != 8 or not dtype.isnative:
        charge(8 * count, f"the array `{name}` in numbers of 8 bytes")
    text = stream.read(size - start)
    if len(text) != size - start:
        raise _bad(name, "is cut short")
    array: NDArray[np.generic] = np.frombuffer(text, dtype)
    return array.reshape(shape, order="F" if header["fortran_order"] else "C")


def _header(stream: IO[bytes], name: str) -> tuple[dict[str, object], int]:
    """The header's fields, and where the numbers begin."""
    lead = stream.read(8)
    if lead[:6] != _MAGIC or lead[6:] not in {b"\1\0", b"\2\0", b"\3\0"}:
        raise _bad(name, "is not an array in the format .npy")
    width = 2 if lead[6] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _LONGEST_HEADER:
        raise _bad(name, f"has a header of more than {_LONGEST_HEADER} bytes")
    text = stream.read(length)
    try:
        fields = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _bad(name, "has a header that cannot be read") from None
    if not isinstance(fields, dict) or set(fields) != {"descr", "fortran_order", "shape"}:
        raise _bad(name, "must have a header with descr, fortran_order and shape")
    return fields, 8 + width + length


def _plain_type(header: dict[str, object], name: str) -> np.dtype[np.generic]:
    descr = header["descr"]
    if not isinstance(descr, str) or not _PLAIN_TYPE.fullmatch(descr):
        raise _bad(name, "must be of plain numbers: floats or integers of at most 8 bytes")
    return np.dtype(descr)


def _plain_shape(header: dict[str, object], name: str) -> tuple[int, ...]:
    shape = header["shape"]
    if not isinstance(shape, tuple) or len(shape) > 2:
        raise _bad(name, "must have one or two dimensions")
    if not all(type(length) is int and 0 <= length < 2**40 for length in shape):
        raise _bad(name, "has a shape that is not of counts")
    return shape


def _bad(name: str, reason: str) -> MalformedError:
    return MalformedError(f"the array `{name}` {reason}")
