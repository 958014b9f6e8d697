"""/v1/plans: plans, and diagnoses of networks without solving."""
