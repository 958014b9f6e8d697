"""Made-up images of the shape that a model takes."""

import numpy as np

from fedl_sim.data.images import Images
from fedl_sim.engines.models import Model

__all__ = ["made_up_images"]


def made_up_images(model: Model, count: int, seed: int) -> Images:
    generator = np.random.default_rng(seed)
    side = round(model.features**0.5)
    pixels = generator.integers(0, 256, (count, model.features), dtype=np.uint8)
    # Blank corners, as in real images: pooling then has ties to break as torch does.
    pixels[:, : model.features // 4] = 0
    labels = generator.integers(0, model.classes, count)
    return Images(pixels, labels, side, model.classes, scale=1 / 128, shift=-0.4)
