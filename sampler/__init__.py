"""Samplers: which few devices should train."""
