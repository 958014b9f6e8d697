"""The compiled engine is held to torch: forward, loss, every gradient, and whole training runs."""

import numpy as np
import pytest

from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import Cnn, Mlp, Model, Softmax
from fedl_sim.engines.torch import torch_engine
from tests.support.images import made_up_images

MODELS: list[Model] = [
    Cnn(28),
    Cnn(8, first_kernel=3, second_kernel=2),
    Cnn(
        12,
        classes=4,
        first_channels=3,
        first_kernel=5,
        second_channels=5,
        second_kernel=3,
        hidden=7,
        dropout=0.3,
    ),
    Cnn(8, first_kernel=3, second_kernel=2, dropout=0.0),
    Mlp(64, hidden=17),
    Softmax(64),
]


def parameters_for(model: Model, engine: CompiledEngine) -> np.ndarray:
    generator = np.random.default_rng(4)
    return engine.initial_parameters(generator) + 0.05 * generator.standard_normal(engine.parameter_count)


@pytest.mark.parametrize("model", MODELS, ids=repr)
class TestAgainstTorch:
    def test_loss_and_every_gradient_agree(self, model: Model) -> None:
        images = made_up_images(model, 12, 1)
        fast = CompiledEngine(model, images, images, dtype=np.float64)
        slow = torch_engine(model, images, images, np.float64)
        w = parameters_for(model, fast)
        here, there = fast.gradient(w, np.arange(12)), slow.gradient(w, np.arange(12))
        assert here.loss == pytest.approx(there.loss, rel=1e-12)
        assert here.mean_square_norm == pytest.approx(there.mean_square_norm, rel=1e-11)
        np.testing.assert_allclose(here.gradient, there.gradient, rtol=0, atol=1e-13)

    def test_a_training_run_agrees(self, model: Model) -> None:
        images = made_up_images(model, 45, 2)
        fast = CompiledEngine(model, images, images, dtype=np.float64)
        slow = torch_engine(model, images, images, np.float64)
        w = v = parameters_for(model, fast)
        for epoch in range(2):
            order = np.random.default_rng(epoch).permutation(45)[:43]
            w = fast.train_epoch(w, order, batch_size=10, learning_rate=0.1, key=2**63 + epoch)
            v = slow.train_epoch(v, order, batch_size=10, learning_rate=0.1, key=2**63 + epoch)
        np.testing.assert_allclose(w, v, rtol=0, atol=1e-11)

    def test_accuracy_and_test_loss_agree(self, model: Model) -> None:
        images = made_up_images(model, 40, 3)
        fast = CompiledEngine(model, images, images, dtype=np.float64)
        slow = torch_engine(model, images, images, np.float64)
        w = parameters_for(model, fast)
        assert fast.evaluate(w).accuracy == slow.evaluate(w).accuracy
        assert fast.evaluate(w).loss == pytest.approx(slow.evaluate(w).loss, rel=1e-12)


def test_single_precision_agrees_too() -> None:
    model = Cnn(28)
    images = made_up_images(model, 30, 5)
    fast = CompiledEngine(model, images, images)
    slow = torch_engine(model, images, images)
    w = fast.initial_parameters(np.random.default_rng(0))
    assert w.dtype == np.float32
    order = np.arange(30)
    here = fast.train_epoch(w, order, batch_size=10, learning_rate=0.01, key=7)
    there = slow.train_epoch(w, order, batch_size=10, learning_rate=0.01, key=7)
    np.testing.assert_allclose(here, there, rtol=0, atol=2e-6)
    assert np.abs(here - w).max() > 1e-3


def test_both_engines_start_alike() -> None:
    model = Mlp(64)
    images = made_up_images(model, 3, 0)
    ours = CompiledEngine(model, images, images).initial_parameters(np.random.default_rng(3))
    theirs = torch_engine(model, images, images).initial_parameters(np.random.default_rng(3))
    np.testing.assert_array_equal(ours, theirs)


class TestWrongInput:
    def engine(self) -> CompiledEngine:
        images = made_up_images(Softmax(64), 5, 0)
        return CompiledEngine(Softmax(64), images, images)

    def test_a_datapoint_that_does_not_exist_is_refused(self) -> None:
        engine = self.engine()
        with pytest.raises(ValueError, match=r"0\.\.4"):
            engine.train_epoch(np.zeros(650), np.array([0, 5]), batch_size=2, learning_rate=0.1, key=0)

    def test_parameters_of_another_model_are_refused(self) -> None:
        with pytest.raises(ValueError, match="650 parameters"):
            self.engine().evaluate(np.zeros(649))

    def test_an_empty_set_has_no_gradient(self) -> None:
        with pytest.raises(ValueError, match="at least one datapoint"):
            self.engine().gradient(np.zeros(650), np.array([], np.int64))

    def test_images_of_another_size_are_refused(self) -> None:
        images = made_up_images(Softmax(64), 5, 0)
        with pytest.raises(ValueError, match="784 pixels"):
            CompiledEngine(Softmax(784), images, images)
