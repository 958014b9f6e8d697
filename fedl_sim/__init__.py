"""The FedL simulator: real training that judges plans."""
