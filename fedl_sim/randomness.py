"""Every random draw is a function of what it is for, so results do not depend on the order of work.

A stream is named by a seed and a path of words and numbers: (seed, scheme, device, step). Two workers
that simulate different devices, or one that simulates them in turn, draw the same numbers.
"""

import hashlib

import numpy as np

__all__ = ["key_of", "stream"]


def key_of(seed: int, *path: str | int) -> int:
    """Hash a seed and a path to 64 bits."""
    name = "/".join(f"{type(part).__name__}:{part}" for part in (seed, *path))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def stream(seed: int, *path: str | int) -> np.random.Generator:
    """Return the generator that belongs to this seed and path."""
    return np.random.default_rng(key_of(seed, *path))
