"""/v1/plans: plans, and what a network is like before anything is solved."""
