"""The studies of the paper's evaluation, one module each."""
