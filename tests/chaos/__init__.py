"""Faults reproduced with real processes."""
