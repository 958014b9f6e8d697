"""Compiled arithmetic of the samplers, in the paper's letters."""
