"""The GCN's forward pass for serving, in NumPy and SciPy without torch.

H(l) = σ(D̃^(−1/2) Ã D̃^(−1/2) H(l−1) Q(l)) with Ã = Λ(0) + I and D̃ its degree matrix, ReLU between the two layers, and
log-softmax over the devices (Sec. IV-B). Λ is not symmetric: Λ_ij is the share of i's data that j covers. So device i
gathers from the devices that it can send to, and D̃_ii = 1 + Σ_j Λ_ij.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampler.threads import in_threads
from solver.network import Network

__all__ = ["Propagation", "gcn_scores", "log_softmax"]

FloatArray = NDArray[np.float64]

# Rows that one thread gathers at a time: SciPy runs without the interpreter's lock.
_ROWS = 16_384


class Propagation:
    """D̃^(−1/2) Ã D̃^(−1/2) of a network, applied in O(links) without forming an N×N matrix.

    It calls `look`, which may raise, while it is built and before each block of rows: with 10⁶ links each takes a
    tenth of a second and more.
    """

    def __init__(self, network: Network, look: Callable[[], None] = lambda: None) -> None:
        from scipy import sparse  # noqa: PLC0415 — see `solver.network`

        n = len(network)
        links = network.links
        degree = 1.0 + np.bincount(links.source, weights=links.similarity, minlength=n)
        root = 1.0 / np.sqrt(degree)
        # Links are sorted by target, so the arrays already are Λ in compressed sparse columns. Rows gather faster.
        weight = links.similarity * root[links.source] * root[links.target]
        between = sparse.csc_array((weight, links.source, network.incoming), shape=(n, n))
        look()
        whole = (between + sparse.diags_array(1.0 / degree, format="csc")).tocsr()
        look()
        self._look = look
        self._blocks = [whole[first : first + _ROWS] for first in range(0, n, _ROWS)]

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return D̃^(−1/2) Ã D̃^(−1/2) X for X of shape (N, U)."""

        def rows(block: Any) -> FloatArray:
            self._look()
            product: FloatArray = block @ values
            return product

        return np.concatenate(in_threads(rows, self._blocks))


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return log Γ: log-probabilities over the devices."""
    shifted = logits - logits.max()
    scores: FloatArray = shifted - np.log(np.exp(shifted).sum())
    return scores


def gcn_scores(features: FloatArray, propagate: Propagation, layers: Sequence[FloatArray]) -> FloatArray:
    """Return log Γ of every device from π (N, U) and the weights Q(1) (U, O), …, Q(L) (·, 1)."""
    hidden = features
    for depth, Q in enumerate(layers):
        # Propagate the narrower matrix, before or after the weights: the product is the same.
        narrow = Q.shape[0] <= Q.shape[1]
        hidden = propagate(hidden) @ Q if narrow else propagate(hidden @ Q)
        if depth + 1 < len(layers):
            hidden = np.maximum(hidden, 0.0)
    return log_softmax(hidden[:, 0])
