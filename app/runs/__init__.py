"""/v1/runs: the closed loop."""
