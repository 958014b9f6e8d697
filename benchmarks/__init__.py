"""Benchmarks: correctness first, then time, rivals in the same run."""
