"""A site of two servers and a worker, upgraded one after the other while clients call it."""
