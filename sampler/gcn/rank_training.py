"""Training the ranking network, in torch. Serving never imports this module.

The training networks have few devices and one size, so D̃^(−1/2) Ã D̃^(−1/2) is a small dense matrix here.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from sampler.gcn.examples import RankStates, Trained, TrainingOptions

__all__ = ["RankNetwork", "train_rank"]


class RankNetwork(nn.Module):
    """The layers of `sampler.gcn.rank` on dense batches: features (B, N, U), propagation (B, N, N) → logits (B, N)."""

    def __init__(self, widths: list[int]) -> None:
        """Build layers of these widths: U, O, …, 1."""
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2 * narrow, wide) for narrow, wide in pairwise(widths))
        self.double()

    def forward(self, features: Tensor, propagation: Tensor) -> Tensor:
        """Return the logits."""
        hidden = features
        for depth, layer in enumerate(self.layers):
            hidden = layer(torch.cat([hidden, propagation @ hidden], dim=-1))
            if depth + 1 < len(self.layers):
                hidden = hidden.relu()
        return hidden[..., 0]

    def matrices(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]:
        """Return W of each layer: rows for own features, neighbours' features and the constant."""
        return tuple(
            np.concatenate([layer.weight.detach().numpy().T, layer.bias.detach().numpy()[None]])
            for layer in cast("list[nn.Linear]", list(self.layers))
        )


def train_rank(states: RankStates, options: TrainingOptions, on_epoch: Callable[[], None] | None = None) -> Trained:
    """Minimise the listwise cross-entropy between target and softmax over the free devices.

    Raises:
        InvalidInputError: there are fewer than two states.
    """
    held = options.held(len(states))
    features, propagation, target, free = (
        torch.from_numpy(array) for array in (states.features, states.propagation, states.target, states.free)
    )
    train, validation = torch.arange(len(states) - held), torch.arange(len(states) - held, len(states))
    generator = torch.Generator().manual_seed(options.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        model = RankNetwork([features.shape[2], *options.hidden, 1])
    optimiser = torch.optim.Adam(model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)

    def loss(rows: Tensor) -> Tensor:
        logits = model(features[rows], propagation[rows]).masked_fill(~free[rows], -1e9)
        missed: Tensor = -(target[rows] * logits.log_softmax(dim=-1)).sum(dim=-1).mean()
        return missed

    def seen() -> float:
        with torch.no_grad():
            return float(loss(validation))

    best = Trained(model.matrices(), 0, seen(), seen())
    for epoch in range(1, options.epochs + 1):
        order = train[torch.randperm(len(train), generator=generator)]
        for rows in torch.split(order, options.batch_size or len(order)):
            optimiser.zero_grad()
            loss(rows).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        now = seen()
        if now < best.validation_loss:
            best = Trained(model.matrices(), epoch, best.first_loss, now)
        if on_epoch is not None:
            on_epoch()
    return best
