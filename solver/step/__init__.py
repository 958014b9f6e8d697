"""One step's offloading problem (Sec. III-C) and those who solve it."""
