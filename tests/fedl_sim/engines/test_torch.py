"""The torch engine takes any module."""

import numpy as np
import pytest
import torch
from torch import nn

from fedl_sim.data.datasets import load_data_set
from fedl_sim.engines.torch import TorchEngine

DIGITS = load_data_set("digits")


def engine(*layers: nn.Module) -> TorchEngine:
    return TorchEngine(nn.Sequential(*layers), DIGITS.train, DIGITS.test)


def test_a_module_of_ones_own_learns() -> None:
    own = engine(nn.Conv2d(1, 4, 3), nn.Tanh(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(4 * 36, 10))
    w = own.initial_parameters(np.random.default_rng(0))
    before = own.evaluate(w).accuracy
    for epoch in range(3):
        w = own.train_epoch(w, np.arange(500), batch_size=10, learning_rate=0.05, key=epoch)
    assert own.evaluate(w).accuracy > max(0.7, before)


def test_its_own_dropout_is_decided_by_the_key_and_leaves_torchs_generator_alone() -> None:
    own = engine(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10))
    w = own.initial_parameters(np.random.default_rng(1))
    state = torch.get_rng_state()
    one, same, other = (
        own.train_epoch(w, np.arange(50), batch_size=10, learning_rate=0.1, key=key)
        for key in (2**63 + 1, 2**63 + 1, 3)
    )
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)
    assert torch.equal(state, torch.get_rng_state())


def test_initial_parameters_follow_the_generator() -> None:
    own = engine(nn.Flatten(), nn.Linear(64, 10))
    one, same, other = (own.initial_parameters(np.random.default_rng(s)) for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)


def test_modules_that_cannot_be_averaged_are_refused() -> None:
    with pytest.raises(ValueError, match="buffers"):
        engine(nn.BatchNorm2d(1), nn.Flatten(), nn.Linear(64, 10))
    with pytest.raises(ValueError, match="parameters"):
        engine(nn.Flatten())
