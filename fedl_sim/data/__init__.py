"""Data sets: labelled images, read from disk or downloaded."""
