import numpy as np

from fedl_sim.engines.dropout import keep_mask
from fedl_sim.randomness import key_of, stream


def test_a_stream_is_named_by_its_whole_path() -> None:
    paths: list[tuple[int | str, ...]] = [("a", 1, 2), ("a", 12), ("a", "1", 2), ("b", 1, 2), ("a", 2, 1)]
    keys = {key_of(0, *path) for path in paths} | {key_of(1, "a", 1, 2)}
    assert len(keys) == 6
    assert stream(3, "x").random() == stream(3, "x").random()


def test_masks_keep_the_right_share_and_depend_on_position_only() -> None:
    mask = keep_mask(key_of(1), np.arange(5000), 20, 0.3)
    assert abs(mask.mean() - 0.7) < 0.01
    assert np.all(np.abs(mask.mean(axis=0) - 0.7) < 0.04)
    np.testing.assert_array_equal(mask[17:23], keep_mask(key_of(1), np.arange(17, 23), 20, 0.3))
    assert np.any(mask != keep_mask(key_of(2), np.arange(5000), 20, 0.3))
