"""The work of a validation as bytes in the store: compressed JSON of `fedl_sim.contract`."""

import json
import zlib

from fedl_sim.contract import ContractError, Work, decode

__all__ = ["pack_work", "unpack_work"]


def pack_work(work: Work) -> bytes:
    """Write work as the store keeps it."""
    return zlib.compress(json.dumps(work.to_json()).encode(), 1)


def unpack_work(packed: bytes) -> object:
    """Return the JSON value, for `from_json` of a class of the contract.

    Raises:
        ContractError: the bytes are damaged.
    """
    try:
        return decode(zlib.decompress(packed))
    except zlib.error as error:
        raise ContractError("", f"cannot be decompressed: {error}") from error
