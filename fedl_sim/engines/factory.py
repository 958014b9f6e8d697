"""Choosing an engine by name."""

import importlib

from fedl_sim.data.datasets import DataSet
from fedl_sim.engines.base import Engine
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import model_for
from fedl_sim.errors import InvalidSettingError
from solver.errors import MissingExtraError

__all__ = ["ENGINES", "default_model", "make_engine"]

ENGINES = ("compiled", "torch")


def default_model(data_set: str) -> str:
    """Return the model for a data set if none is named: softmax for the small digits, the CNN for the others."""
    return "softmax" if data_set == "digits" else "cnn"


def make_engine(name: str, model: str, data: DataSet) -> Engine:
    """Return the engine of that name for a built-in model on this data set.

    Raises:
        MissingExtraError: `torch` is asked for and not installed.
    """
    built_in = model_for(model, data.train.side, data.train.classes)
    if name == "compiled":
        return CompiledEngine(built_in, data.train, data.test)
    if name != "torch":
        raise InvalidSettingError(f"unknown engine {name!r}; known: {', '.join(ENGINES)}")
    try:
        # Imported here and nowhere else: the built-in models train without torch.
        module = importlib.import_module("fedl_sim.engines.torch")
    except ImportError as error:
        raise MissingExtraError("the torch engine needs torch: install fedsift[sim]") from error
    engine: Engine = module.torch_engine(built_in, data.train, data.test)
    return engine
