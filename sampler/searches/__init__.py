"""Searches for the set of devices that maximises an objective."""
