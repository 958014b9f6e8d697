"""The branch search of Sec. IV-C."""
