"""What can go wrong in the simulator, as types.

SimulationError
├── CheckpointError     a saved run cannot be gone on with
├── DataSetError        a data set is missing, damaged or cannot be fetched
├── TopologyError       a graph file cannot be read as a network of devices
└── MissingExtraError   a feature needs an optional dependency that is not installed
"""

__all__ = ["CheckpointError", "DataSetError", "MissingExtraError", "SimulationError", "TopologyError"]


class SimulationError(Exception):
    """Any failure that the simulator foresees; its text is meant for users."""


class CheckpointError(SimulationError):
    """A saved run cannot be gone on with."""


class DataSetError(SimulationError):
    """A data set is missing, damaged or cannot be fetched."""


class TopologyError(SimulationError):
    """A graph file cannot be read as a network of devices."""


class MissingExtraError(SimulationError):
    """A feature needs an optional dependency that is not installed."""
