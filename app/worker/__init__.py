"""Workers: processes that train the parts of validations.

The service writes validations into its store; workers claim their parts there (`app.validations.parts`). A worker
process (`main`) trains one part at a time round by round (`executor`) in a process of its own (`trainer_process`). It
sends heartbeats (`store`), and strikes off workers that are dead or silent (`upkeep`, `liveness`). `supervisor` starts
worker processes and replaces those that end or fall silent; `health` is the health check of a container.
"""
