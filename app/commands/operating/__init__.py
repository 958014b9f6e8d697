"""Commands for the operators of a service."""
