"""The figures of experiments, drawn from the tables that they write: so they can be drawn again without training."""
