"""A program: train each built-in model a little, and print every bit of the results as JSON.

It also prints how many kernels it loaded and compiled, and which other kernels each compiled one still calls.
"""

import json
import re
import sys
from typing import Any

import numpy as np

from fedl_sim.engines.compiled import cnn, feedforward
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import Cnn, Mlp, Model, Softmax
from tests.support.images import made_up_images

MODELS: tuple[Model, ...] = (Softmax(784), Mlp(784), Cnn(28))
KERNELS: tuple[Any, ...] = (
    cnn.cnn_epoch,
    cnn.cnn_evaluate,
    cnn.cnn_gradient,
    feedforward.feedforward_epoch,
    feedforward.feedforward_evaluate,
    feedforward.feedforward_gradient,
)


def measure(model: Model) -> list[str]:
    engine = CompiledEngine(model, made_up_images(model, 40, 1), made_up_images(model, 20, 2))
    order = np.arange(40)
    w = engine.initial_parameters(np.random.default_rng(3))
    w = engine.train_epoch(w, order, batch_size=10, learning_rate=0.1, key=7)
    seen, evaluation = engine.gradient(w, order), engine.evaluate(w)
    values = (w, seen.loss, seen.gradient, seen.mean_square_norm, evaluation.loss)
    return [np.asarray(value).tobytes().hex() for value in values]


def called_by(kernel: Any) -> list[str]:
    (assembly,) = kernel.inspect_asm().values()
    body = re.search(rf"^(_ZN8fedl_sim\w*{kernel.__name__}\w*):\n(.*?)^\.Lfunc_end", assembly, re.DOTALL | re.MULTILINE)
    assert body is not None
    return sorted(set(re.findall(r"_ZN8fedl_sim\w*", body[2])) - {body[1]})


def main() -> None:
    measured = {type(model).__name__: measure(model) for model in MODELS}
    compiled = [kernel for kernel in KERNELS if kernel.stats.cache_misses]
    report = {
        "measured": measured,
        "loaded": sum(bool(kernel.stats.cache_hits) for kernel in KERNELS),
        "compiled": len(compiled),
        "calls": {kernel.__name__: called_by(kernel) for kernel in compiled},
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
