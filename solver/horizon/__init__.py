"""A horizon planned step after step, and its state between two steps."""
