"""Training kernels for the built-in models, compiled by numba: no torch, no dispatch per layer."""
