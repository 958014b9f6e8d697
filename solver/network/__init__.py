"""What is given: devices, links, how they change in time, and the forms in which networks arrive."""

from solver.network.model import DEVICE_COLUMNS, LINK_COLUMNS, Devices, Links, Network

__all__ = ["DEVICE_COLUMNS", "LINK_COLUMNS", "Devices", "Links", "Network"]
