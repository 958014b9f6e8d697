import numpy as np
import pytest

from fedl_sim.engines.models import Cnn, Mlp, Softmax, initial_parameters, model_for, parameter_count


def test_the_cnn_is_the_one_of_the_experiments() -> None:
    model = model_for("cnn", 28, 10)
    assert isinstance(model, Cnn)
    assert model.flat == 320
    assert parameter_count(model) == 260 + 5020 + 16050 + 510


def test_small_images_get_the_sibling_with_small_kernels() -> None:
    model = model_for("cnn", 8, 10)
    assert isinstance(model, Cnn)
    assert (model.first_kernel, model.second_kernel, model.flat) == (3, 2, 20)


def test_initial_parameters_stay_within_their_bounds() -> None:
    w = initial_parameters(Cnn(28), np.random.default_rng(0))
    assert w.dtype == np.float32
    assert np.abs(w[:260]).max() <= 1 / 5
    assert np.abs(w[260:5280]).max() <= 1 / np.sqrt(250)
    assert np.std(w[260:5260]) == pytest.approx(1 / np.sqrt(250) / np.sqrt(3), rel=0.05)
    assert not initial_parameters(Softmax(64), np.random.default_rng(0)).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cnn(0),
        lambda: Cnn(28, dropout=1.0),
        lambda: Cnn(27),
        lambda: Cnn(8),
        lambda: Cnn(28, first_kernel=9),
        lambda: Mlp(0),
        lambda: Softmax(3, classes=1),
        lambda: model_for("transformer", 28, 10),
    ],
)
def test_impossible_models_are_refused(make: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()  # type: ignore[operator]
