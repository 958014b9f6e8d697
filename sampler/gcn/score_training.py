"""Training the GCN from labelled networks, in torch. Serving never imports this module.

The target of a realisation is x* ∈ {0, 1}^N, the candidate set of smallest loss (Sec. IV-B). Γ is a distribution over
the devices, so the loss is its cross-entropy to x*/S.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sampler.gcn.examples import Example, Trained, TrainingOptions
from sampler.gcn.torch_model import GcnScorer, edges_of

__all__ = ["train_scorer"]


@dataclass(frozen=True, eq=False)
class _Batch:
    """Many networks as one graph without links between them."""

    features: Tensor
    edge_index: Tensor
    edge_weight: Tensor
    graph: Tensor
    target: Tensor
    size: int

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "_Batch":
        sizes = [len(example.network) for example in examples]
        starts = np.cumsum([0, *sizes[:-1]])
        edges = [edges_of(example.network) for example in examples]
        return cls(
            torch.from_numpy(np.concatenate([example.features for example in examples])),
            torch.cat([index + int(start) for (index, _), start in zip(edges, starts, strict=True)], dim=1),
            torch.cat([weight for _, weight in edges]),
            torch.from_numpy(np.repeat(np.arange(len(examples)), sizes)),
            torch.from_numpy(np.concatenate([example.target for example in examples])),
            len(examples),
        )

    def loss(self, model: GcnScorer) -> Tensor:
        """Mean over networks of −Σ_i target_i · log Γ_i."""
        scores = model(self.features, self.edge_index, self.edge_weight, self.graph)
        # A device of target 0 adds nothing, even if its log Γ is −∞.
        wanted = self.target > 0
        loss: Tensor = -(self.target[wanted] * scores[wanted]).sum() / self.size
        return loss


def train_scorer(
    examples: Sequence[Example], options: TrainingOptions, on_epoch: Callable[[], None] | None = None
) -> Trained:
    """Train from scratch; the same examples and options give the same weights.

    Raises:
        InvalidInputError: there are fewer than two examples.
    """
    held = options.held(len(examples))
    train, validation = _Batch.of(examples[:-held]), _Batch.of(examples[-held:])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        model = GcnScorer([examples[0].features.shape[1], *options.hidden, 1])
    optimiser = torch.optim.Adam(model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    best = Trained(model.matrices(), 0, _value(validation, model), _value(validation, model))
    for epoch in range(1, options.epochs + 1):
        optimiser.zero_grad()
        train.loss(model).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        seen = _value(validation, model)
        if seen < best.validation_loss:
            best = Trained(model.matrices(), epoch, best.first_loss, seen)
        if on_epoch is not None:
            on_epoch()
    return best


def _value(batch: _Batch, model: GcnScorer) -> float:
    with torch.no_grad():
        return float(batch.loss(model))
