"""Random streams named by their purpose, so that results do not depend on the order of the work.

The name of a stream is a seed and a path of words and numbers, such as (seed, purpose, device, step). Two workers that
simulate different devices draw the same numbers as one worker that simulates all of them.
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
