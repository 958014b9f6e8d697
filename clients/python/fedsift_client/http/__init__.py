"""HTTP: calls as values, retries, event streams, and what carries them out."""
