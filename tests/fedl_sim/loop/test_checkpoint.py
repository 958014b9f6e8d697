"""A run that is packed, restored elsewhere and gone on with equals one that was left alone, to the last bit."""

import io
from typing import Any

import numpy as np
import pytest

from fedl_sim.errors import CheckpointError
from fedl_sim.loop.checkpoint import pack, restore
from fedl_sim.loop.loop import SchemeLoop
from fedl_sim.trainer.part import open_part
from tests.support.parts import make_part


def finish(loop: SchemeLoop) -> Any:
    while not loop.finished:
        loop.advance()
    return loop.result()


@pytest.mark.parametrize("scheme", ["ours-offload", "random-offload", "heuristic-offload", "all"])
@pytest.mark.parametrize("model", ["softmax", "cnn"])
def test_going_on_elsewhere_changes_nothing(scheme: str, model: str) -> None:
    part = make_part(scheme=scheme, model=model, aggregations=3)
    alone = open_part(part)
    expected = finish(alone)
    loop = open_part(part)
    while not loop.finished:
        loop.advance()
        packed = pack(loop)
        loop = open_part(part)
        restore(loop, packed)
    assert loop.result() == expected
    np.testing.assert_array_equal(loop.parameters, alone.parameters)
    for device in loop.sampled.tolist():
        np.testing.assert_array_equal(loop.holdings.data(device), alone.holdings.data(device))


def test_a_checkpoint_is_small_and_has_nothing_pickled() -> None:
    loop = open_part(make_part())
    loop.advance()
    loop.advance()
    packed = pack(loop)
    assert len(packed) < 20_000
    with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def test_another_runs_checkpoint_is_refused() -> None:
    loop = open_part(make_part())
    loop.advance()
    for part in (make_part(seed=4), make_part(model="cnn")):
        with pytest.raises(CheckpointError, match="another run"):
            restore(open_part(part), pack(loop))
    with pytest.raises(CheckpointError, match="cannot be read"):
        restore(open_part(make_part()), b"nothing")
