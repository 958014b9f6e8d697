"""The sampler `gcn_rank`: a variant of ours, because the scores of the paper's GCN do not lower the FedL loss.

`gcn_branch` scores devices once, and percentile rules select the candidates. `gcn_rank` scores devices anew for each
pick, given the devices picked before, and every device that can be sampled is a candidate. Each layer is

    H' = ReLU([H, D̃^(−1/2) Ã D̃^(−1/2) H, 1] W)

so a device's own features and its neighbours' have separate weights. The features (`sampler.gcn.rank_features`)
describe what offloading could bring and what the picked devices hold already.
"""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from sampler.base import SamplingProblem, Selection
from sampler.errors import TimeIsOverError
from sampler.gcn.forward import Propagation, log_softmax
from sampler.gcn.rank_features import RankView
from sampler.gcn.rank_pass import RankPass
from sampler.gcn.weights import GENERAL, Weights, load_weights
from sampler.trace import SHOWN_CANDIDATES, Pick
from sampler.unfinished import selection

__all__ = ["GcnRank", "rank_logits"]

FloatArray = NDArray[np.float64]

RULE = "highest rank"

# Scores this close are equal but for rounding.
_ROUNDING = 1e-9


def rank_logits(features: FloatArray, propagate: Propagation, layers: Sequence[FloatArray]) -> FloatArray:
    """Return every device's logit from its features (N, U): the network in its plain form.

    `sampler.gcn.rank_pass` computes the same faster where features change little.
    """
    hidden = features
    for depth, W in enumerate(layers):
        width = hidden.shape[1]
        own, neighbours, constant = W[:width], W[width : 2 * width], W[-1]
        # Propagate the narrower matrix, before or after the weights: the product is the same.
        narrow = width <= W.shape[1]
        gathered = propagate(hidden) @ neighbours if narrow else propagate(hidden @ neighbours)
        # In place: at 10⁵ devices fresh memory costs more than the arithmetic.
        gathered += hidden @ own
        gathered += constant
        hidden = np.maximum(gathered, 0.0, out=gathered) if depth + 1 < len(layers) else gathered
    return hidden[:, 0]


class GcnRank:
    """A GCN that ranks the next device given those picked, on richer features; scores are its log-probabilities."""

    def __init__(self, weights: Weights | None = None) -> None:
        """Use these weights, by default those of the package."""
        self._weights = weights

    @property
    def weights(self) -> Weights:
        """The network in use.

        Raises:
            WeightsError: the package holds none.
        """
        return load_weights("rank", GENERAL) if self._weights is None else self._weights

    @property
    def provenance(self) -> dict[str, str | float]:
        """Where the weights come from."""
        return dict(self.weights.provenance)

    def __call__(self, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        """Pick device after device; ties are broken at random.

        When time is over, the rest are those of highest rank after the last pick, or of most data if there was none.
        """
        layers = self.weights.layers
        picks: list[Pick] = []
        logits = problem.conditions.devices.data
        with suppress(TimeIsOverError):
            view = RankView(problem)
            network = RankPass(view, layers)
            for _ in range(problem.sample_size):
                logits = network.logits()
                pick = _best(np.flatnonzero(view.free), logits, generator, view.picked)
                # The score of a free device is its logit less a constant of the round.
                level = pick.score - logits[pick.device]
                told = {int(i): float(level + logits[i]) for i in problem.explained if view.free[i]}
                network.renew(view.pick(pick.device))
                picks.append(pick.with_gains(told))
        return selection(problem, picks, logits)


def _largest(scores: FloatArray, count: int) -> NDArray[np.int64]:
    """The places of the largest scores, in falling order; of equal scores the first."""
    if len(scores) <= count:
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, -count)[-count]
    places = np.flatnonzero(scores >= least)
    return places[np.argsort(-scores[places], kind="stable")][:count]


def _best(pool: NDArray[np.int64], logits: FloatArray, generator: np.random.Generator, picked: Sequence[int]) -> Pick:
    scores = log_softmax(logits[pool])
    ties = np.flatnonzero(scores >= scores.max() - _ROUNDING)
    best = int(ties[0] if len(ties) == 1 else generator.choice(ties))
    shown = _largest(scores, SHOWN_CANDIDATES)
    shown = np.concatenate([[best], shown[shown != best]])[:SHOWN_CANDIDATES]
    return Pick(
        device=int(pool[best]),
        score=float(scores[best]),
        rule=RULE,
        previous=picked[-1] if picked else None,
        percentile=None,
        threshold=None,
        n_candidates=len(pool),
        candidates=tuple(pool[shown].tolist()),
        candidate_scores=tuple(scores[shown].tolist()),
        tied=len(ties),
    )
