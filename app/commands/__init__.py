"""The service's own commands of the console script."""
