"""Compiled kernels: the arithmetic of the fast solver, in the paper's letters.

They take plain arrays and do not check them: `solver.network` and `solver.step.problem` validate all input. Numba
compiles each kernel on first use and caches it on disk.
"""
