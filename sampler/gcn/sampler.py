"""The samplers `gcn_branch` and `gcn_branch_fedl`: a trained GCN scores the devices, a branch search picks them."""

from collections.abc import Mapping

import numpy as np

from sampler.base import SamplingProblem, Selection
from sampler.branch.search import branch_search
from sampler.errors import TimeIsOverError, WeightsError
from sampler.gcn.features import device_features
from sampler.gcn.forward import Propagation, gcn_scores
from sampler.gcn.weights import GENERAL, PAPER_SIZES, Weights, load_weights, weights_name
from sampler.unfinished import selection

__all__ = ["GcnBranch", "GcnBranchFedl"]


class GcnBranch:
    """The paper's method (Sec. IV): a trained GCN scores the devices, a branch search picks them; scores are log Γ."""

    def __init__(self, label: str = "surrogate", weights: Mapping[str, Weights] | None = None) -> None:
        """Use the package's weights trained on this label, or the given ones, named `s3` … `s6` and `general`."""
        self._label = label
        self._weights = weights

    def weights_for(self, sample_size: int) -> Weights:
        """Return the model for this sample size.

        Raises:
            WeightsError: there is no such model.
        """
        return self._named(weights_name(sample_size))

    @property
    def provenance(self) -> dict[str, str | float]:
        """Where the weights of all models come from, in one flat table of `s3.label`, `s3.realisations` and so on."""
        return {
            f"{name}.{key}": value
            for name in (*map(weights_name, PAPER_SIZES), GENERAL)
            for key, value in self._named(name).provenance.items()
        }

    def _named(self, name: str) -> Weights:
        if self._weights is None:
            return load_weights(f"gcn-{self._label}", name)
        found = self._weights.get(name, self._weights.get(GENERAL))
        if found is None:
            raise WeightsError(
                f"there are no weights {name!r} and no general ones: {', '.join(self._weights) or 'none'}"
            )
        return found

    def __call__(self, problem: SamplingProblem, generator: np.random.Generator) -> Selection:
        """Score the devices, then search; if time is over before they are scored, those of most data are chosen."""
        network = problem.conditions
        weights = self.weights_for(problem.sample_size)
        try:
            features = device_features(network, problem.sample_size, weights.features)
            scores = gcn_scores(features, Propagation(network, problem.look), weights.layers)
        except TimeIsOverError:
            return selection(problem, [], network.devices.data)
        return branch_search(problem, scores, generator)


class GcnBranchFedl(GcnBranch):
    """`gcn_branch` with the GCN trained on FedL loss, the paper's target; docs/model-card.md compares the two."""

    def __init__(self) -> None:
        """Use the package's weights."""
        super().__init__("fedl")
