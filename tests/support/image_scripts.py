"""The scripts of deploy/image, which stand alone, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["FOLDER", "load"]

FOLDER = Path(__file__).parents[2] / "deploy" / "image"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module
