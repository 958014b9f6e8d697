"""Imports: files that people have, turned into a fleet, with a report of what was assumed (docs/import.md)."""
