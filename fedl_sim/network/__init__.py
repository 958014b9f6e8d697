"""Network realisations: the data, the links and the capacities of the devices."""
