"""One training run: sample, plan, move data, train, aggregate, observe."""
