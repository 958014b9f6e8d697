"""What a device tells of its data: how many datapoints of each class, with noise if it likes."""

import math
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from fedsift_client.errors import InputError

__all__ = ["Sketch", "sketch"]


@dataclass(frozen=True)
class Sketch:
    """The label histogram of a device.

    Attributes:
        datapoints: how many datapoints the device holds, without noise.
        label_counts: how many of each class, as a fleet's device has them; with noise, of any sign.
        epsilon: the ε of the noise, or None. The fleet must state it: `"label_noise": {"epsilon": …}`.
    """

    datapoints: int
    label_counts: dict[str, float]
    epsilon: float | None = None


def sketch(
    labels: Iterable[object],
    classes: Sequence[object] | None = None,
    *,
    epsilon: float | None = None,
    random: Random | None = None,
) -> Sketch:
    """Count a device's labels; with `epsilon`, add Laplace noise of scale 1/ε to each count.

    One datapoint more or less changes one count by one, so the counts are ε-differentially private for it. That needs
    all classes that there are, not those that the device happens to hold: which classes are missing is private too.
    Make a sketch once and send it again unchanged: each new one with fresh noise tells more.

    Args:
        labels: the class of each datapoint.
        classes: all classes there are; needed with `epsilon`.
        epsilon: ε, the smaller the more private.
        random: where the noise comes from; the operating system's random numbers if left out.
    """
    counts = Counter(_name(label) for label in labels)
    names = sorted(counts) if classes is None else [_name(one) for one in classes]
    if len(set(names)) != len(names):
        raise InputError("a class is named twice")
    strange = sorted(set(counts) - set(names))
    if strange:
        raise InputError(f"there are labels of no class: {strange[0]}")
    total = sum(counts.values())
    if epsilon is None:
        return Sketch(total, {name: float(counts[name]) for name in names})
    if classes is None:
        raise InputError("name all classes: which of them are missing here is private too")
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise InputError("epsilon must be positive")
    source = secrets.SystemRandom() if random is None else random
    return Sketch(total, {name: counts[name] + _laplace(source, 1 / epsilon) for name in names}, epsilon)


def _laplace(random: Random, scale: float) -> float:
    """The difference of two exponential numbers of mean `scale` has the Laplace distribution of that scale."""
    return scale * (random.expovariate(1.0) - random.expovariate(1.0))


def _name(label: object) -> str:
    """The class as text; numbers of numpy and of Python have the same name."""
    item = getattr(label, "item", None)
    return str(item() if callable(item) else label)
