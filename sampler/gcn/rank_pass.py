"""The ranking network's logits after each pick, without computing again what the pick does not change.

The first layer is linear before its ReLU. Most features change only near a pick: their part of the first layer is kept,
and computed again for the few devices that see a change. The other features change for all devices. Their part and the
later layers are computed for all devices, in compiled code and in threads.

`sampler.gcn.rank.rank_logits` is the same network written plainly. The two differ by rounding.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sampler.gcn.rank_features import CHANGING, NEARBY, STATIC, RankView, places
from sampler.kernels.rank import Gathering, gather, layer, weigh
from solver.validation import frozen

__all__ = ["RankPass"]

FloatArray = NDArray[np.float64]


class RankPass:
    """The logits of all devices, given the devices that a view has picked."""

    def __init__(self, view: RankView, layers: Sequence[FloatArray]) -> None:
        """Compute the part of the first layer that no pick changes."""
        self._view = view
        self._by = _gathering(view)
        # Own weights, neighbours' weights and the constant of each layer.
        self._layers = [_split(W) for W in layers]
        n = len(view.network)
        # At 10⁵ devices fresh memory costs as much as the arithmetic.
        self._hidden = [np.empty((n, W.shape[1])) for W in layers]
        self._offered = [np.empty_like(hidden) for hidden in self._hidden]
        static = np.empty_like(self._hidden[0])
        constant = self._layers[0][2]
        view.in_parts(lambda part: self._first(part, STATIC, view.static, constant, static))
        # The static part, and what picks add to it nearby: nothing at first.
        self._static, self._kept = frozen(static), static.copy()

    def renew(self, touched: NDArray[np.int64]) -> None:
        """Compute the kept part again where it depends on the features of these devices."""
        view = self._view
        senders = view.network.links.source[view.links_into(touched)]
        self._first(view.union(touched, senders), NEARBY, view.nearby, self._static, self._kept)

    def logits(self) -> FloatArray:
        """Return every device's logit, (N,)."""
        view = self._view
        # Without label counts all but the last one, the progress, are 0.
        names = CHANGING if view.labels else CHANGING[-1:]
        changing = np.ascontiguousarray(view.changing()[:, -len(names) :])
        hidden, kept = self._hidden[0], frozen(self._kept)
        view.in_parts(lambda part: self._first(part, names, changing, kept, hidden, bent=len(self._layers) > 1))
        for depth in range(1, len(self._layers)):
            self._apply(depth)
        return self._hidden[-1][:, 0].copy()

    def _first(
        self,
        devices: NDArray[np.int64],
        names: tuple[str, ...],
        features: FloatArray,
        plus: FloatArray,
        out: FloatArray,
        *,
        bent: bool = False,
    ) -> None:
        """Compute the first layer of some features only, added to the other ones' part."""
        own, neighbours = (frozen(W[places(names)]) for W in self._layers[0][:2])
        layer(devices, self._by, features, own, neighbours, plus, bent, out)

    def _apply(self, depth: int) -> None:
        """Compute a layer after the first."""
        weights, hidden, out = self._layers[depth], self._hidden[depth - 1], self._hidden[depth]
        bent = depth + 1 < len(self._layers)
        # Gather the narrower matrix, before or after the weights: the product is the same.
        if hidden.shape[1] <= out.shape[1]:
            self._view.in_parts(lambda part: layer(part, self._by, hidden, *weights, bent, out))
            return
        offered = self._offered[depth]
        self._view.in_parts(lambda part: weigh(part, hidden, *weights, offered, out))
        self._view.in_parts(lambda part: gather(part, self._by, offered, bent, out))


def _split(W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The weights of a device itself, of its neighbours, and the constant as a row."""
    width = len(W) // 2
    own, neighbours, constant = (np.ascontiguousarray(part) for part in (W[:width], W[width:-1], W[-1:]))
    return frozen(own), frozen(neighbours), frozen(constant)


def _gathering(view: RankView) -> Gathering:
    """D̃^(−1/2) Ã D̃^(−1/2) as in `sampler.gcn.forward`, by rows."""
    links, order = view.network.links, view.links_by_sender
    degree = 1.0 + np.bincount(links.source, weights=links.similarity, minlength=len(view.network)).astype(np.float64)
    view.look()
    root = 1.0 / np.sqrt(degree)
    weight = links.similarity * root[links.source] * root[links.target]
    view.look()
    return Gathering(view.outgoing, links.target[order], weight[order], 1.0 / degree)
