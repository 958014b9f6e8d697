"""Webhooks: what happens to plans, runs and validations, told to programs elsewhere (docs/webhooks.md)."""
