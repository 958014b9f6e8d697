import gzip
import struct

import numpy as np
import pytest

from fedl_sim.data.idx import parse_idx, read_idx_gz
from fedl_sim.errors import DataSetError


def test_dimensions_and_values_come_back() -> None:
    raw = struct.pack(">HBBII", 0, 8, 2, 2, 3) + bytes(range(6))
    np.testing.assert_array_equal(parse_idx(raw), [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\0\0", "magic"),
        (b"PK\3\4" + bytes(20), "not an IDX"),
        (struct.pack(">HBB", 0, 13, 1), "unsigned bytes"),
        (struct.pack(">HBBI", 0, 8, 2, 2), "cut short"),
        (struct.pack(">HBBI", 0, 8, 1, 5) + bytes(4), "promises"),
    ],
)
def test_what_is_no_idx_file_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(DataSetError, match=reason):
        parse_idx(raw)


@pytest.mark.parametrize("packed", [b"no gzip at all", gzip.compress(bytes(1000))[:-9]], ids=["none", "cut short"])
def test_what_is_no_whole_gzip_file_is_refused(packed: bytes) -> None:
    with pytest.raises(DataSetError, match="gzip"):
        read_idx_gz(packed)
