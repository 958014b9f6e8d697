"""Workers: processes that train the parts of validations.

The service writes validations into its store and does not use the queue. A worker process (`main`) moves waiting parts
from the store into the queue (`queue`, the only module that imports DBOS), takes them from there and trains them round
by round (`executor`) in a process of its own (`trainer_process`). It sends heartbeats (`store`) and takes over the
parts of dead workers (`upkeep`). `supervisor` starts worker processes and restarts those that end; `health` is the
health check of a container.
"""
