"""Training engines: what computes gradients and losses."""
