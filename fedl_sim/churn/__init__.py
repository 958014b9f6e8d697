"""Churn: devices die, come back and straggle, transfers are lost, data drifts; and what a run does about it."""
