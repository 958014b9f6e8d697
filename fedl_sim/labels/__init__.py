"""Labelled realisations (Sec. IV-B): small networks whose every candidate set has been planned and trained."""
