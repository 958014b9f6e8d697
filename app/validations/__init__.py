"""/v1/validations: plans judged by real training."""
