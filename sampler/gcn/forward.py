"""The GCN's forward pass in NumPy and SciPy: what serving computes, without torch.

H(l) = σ(D̃^(−1/2) Ã D̃^(−1/2) H(l−1) Q(l)) with Ã = Λ(0) + I and D̃ its degree matrix, ReLU between the two layers, and
log-softmax over the devices (Sec. IV-B). Λ is not symmetric: row i of Ã is about i's own data, Λ_ij being the share of
it that j covers, so device i gathers from those it may send to, and D̃_ii = 1 + Σ_j Λ_ij.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solver.network import Network

__all__ = ["Propagation", "gcn_scores", "log_softmax"]

FloatArray = NDArray[np.float64]


class Propagation:
    """D̃^(−1/2) Ã D̃^(−1/2) of a network, applied in O(links) without forming an N×N matrix."""

    def __init__(self, network: Network) -> None:
        from scipy import sparse  # noqa: PLC0415 — see `solver.network`

        n = len(network)
        links = network.links
        degree = 1.0 + np.bincount(links.source, weights=links.similarity, minlength=n)
        self._root = 1.0 / np.sqrt(degree)
        # Links lie sorted by target: that is Λ in compressed sparse columns as it stands.
        self._similarity = sparse.csc_array((links.similarity, links.source, network.incoming), shape=(n, n))

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return D̃^(−1/2) Ã D̃^(−1/2) X for X of shape (N, U)."""
        scaled = self._root[:, None] * values
        gathered: FloatArray = self._root[:, None] * (self._similarity @ scaled + scaled)
        return gathered


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return log Γ: log-probabilities over the devices."""
    shifted = logits - logits.max()
    scores: FloatArray = shifted - np.log(np.exp(shifted).sum())
    return scores


def gcn_scores(features: FloatArray, propagate: Propagation, layers: Sequence[FloatArray]) -> FloatArray:
    """Return log Γ of every device from π (N, U) and the weights Q(1) (U, O), …, Q(L) (·, 1)."""
    hidden = features
    for depth, Q in enumerate(layers):
        # Propagate whichever is narrower, before or after the weights: it is the same product.
        narrow = Q.shape[0] <= Q.shape[1]
        hidden = propagate(hidden) @ Q if narrow else propagate(hidden @ Q)
        if depth + 1 < len(layers):
            hidden = np.maximum(hidden, 0.0)
    return log_softmax(hidden[:, 0])
