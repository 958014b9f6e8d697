"""The slice of comparisons: many plans for one network, side by side."""
