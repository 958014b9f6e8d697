"""What can go wrong in the simulator, as types; the root is in `solver.errors`.

SimulationError             any failure that the simulator foresees
├── CheckpointError         a saved run cannot be continued
├── DataSetError            a data set is missing, damaged or cannot be fetched
├── InvalidSettingError     a setting breaks a rule (also a ValueError)
└── TopologyError           a graph file cannot be read as a network of devices
"""

from solver.errors import FedsiftError

__all__ = ["CheckpointError", "DataSetError", "InvalidSettingError", "SimulationError", "TopologyError"]


class SimulationError(FedsiftError):
    """Any failure that the simulator foresees; its text is meant for users."""


class CheckpointError(SimulationError):
    """A saved run cannot be continued."""


class DataSetError(SimulationError):
    """A data set is missing, damaged or cannot be fetched."""


class InvalidSettingError(SimulationError, ValueError):
    """A setting of a run, a network or a study breaks a rule; the text names the setting."""


class TopologyError(SimulationError):
    """A graph file cannot be read as a network of devices."""
