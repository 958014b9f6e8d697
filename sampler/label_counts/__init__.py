"""What devices tell of their labels: counts with noise, and the similarity of links derived from counts."""
