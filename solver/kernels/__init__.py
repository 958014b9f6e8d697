"""Compiled kernels: the arithmetic of the fast solver, in the paper's letters.

They take plain arrays and trust them; validation is done once, at the boundary (`solver.network`,
`solver.problem`). Everything is compiled by numba on first use and cached on disk.
"""
