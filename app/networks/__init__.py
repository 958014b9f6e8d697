"""/v1/networks: networks and fleets that are stored, with versions."""
