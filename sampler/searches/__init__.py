"""Searches for a good set under a stated objective."""
