"""How the samplers' kernels are compiled: like the solver's, with their own cache folder."""

from pathlib import Path

from solver.kernels.compile import compiler

__all__ = ["compiled"]

compiled = compiler(Path(__file__).parent)
