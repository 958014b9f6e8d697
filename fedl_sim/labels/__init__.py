"""Labelled realisations (Sec. IV-B): small networks on which every candidate set was planned and trained."""
