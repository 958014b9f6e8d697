"""Faults made on purpose, against real processes: `make chaos` and `make soak`.

`scenario` has the list of scenarios and `report` their table. `site` starts the service on a database of `databases`;
`processes` and `clock` look at its processes and disturb them; `exchange` speaks HTTP, `raw_socket` below it. The other
modules are the scenarios, by kind of fault, and `soak` has many faults at once. Nothing here imports the service, so
that an older checkout can be tested too (`--against`).
"""
