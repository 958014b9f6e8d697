"""The GCN of Sec. IV-B in torch-geometric, for training. Serving never imports this module.

It has two `GCNConv` layers without bias, ReLU between them, and log-softmax over the devices of each network. `GCNConv`
adds the self loops of Ã = Λ(0) + I with weight 1. It takes a node's degree over the edges *into* it, and gathers along
the edges into it. In the paper's D̃^(−1/2) Ã D̃^(−1/2) H device i gathers row i of Ã, Λ_ij for the links i → j. So the
edges are reversed, j → i with weight Λ_ij; degree and direction then agree with the formula.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import scatter

from solver.network import Network

__all__ = ["GcnScorer", "edges_of"]


def edges_of(network: Network) -> tuple[Tensor, Tensor]:
    """Return `edge_index` (2, links), reversed as described above, and the weights Λ."""
    links = network.links
    ends = np.stack([links.target, links.source])
    return torch.from_numpy(ends.copy()), torch.from_numpy(links.similarity.copy())


class GcnScorer(nn.Module):
    """H(π, Ã) with any number of layers; the paper has two.

    Shapes: features (nodes, U), edge_index (2, edges), edge_weight (edges,), graph (nodes,), the network of each node.
    Returns log Γ (nodes,), normalised over each network.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        """Build layers of these widths: U, O, …, 1."""
        super().__init__()
        self.layers = nn.ModuleList(
            GCNConv(narrow, wide, bias=False, add_self_loops=True) for narrow, wide in pairwise(widths)
        )
        self.double()

    def forward(self, features: Tensor, edge_index: Tensor, edge_weight: Tensor, graph: Tensor) -> Tensor:
        """Score every node of every network."""
        hidden = features
        for depth, layer in enumerate(self.layers):
            hidden = layer(hidden, edge_index, edge_weight)
            if depth + 1 < len(self.layers):
                hidden = hidden.relu()
        return _log_softmax(hidden[:, 0], graph)

    def matrices(self) -> tuple[NDArray[np.float64], ...]:
        """Return Q(1), …, Q(L) in the paper's orientation, (in, out)."""
        return tuple(cast("GCNConv", layer).lin.weight.detach().numpy().T.copy() for layer in self.layers)


def _log_softmax(logits: Tensor, graph: Tensor) -> Tensor:
    """Return the log-softmax over the nodes of each network; torch-geometric's softmax would underflow first."""
    top = scatter(logits.detach(), graph, reduce="max")
    shifted = logits - top[graph]
    scores: Tensor = shifted - scatter(shifted.exp(), graph, reduce="sum").log()[graph]
    return scores
