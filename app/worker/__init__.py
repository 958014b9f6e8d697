"""Validation jobs: a durable queue, the workers that empty it, and what keeps them alive.

The service writes validations into its own store and knows nothing of the queue. Workers move parts from there into
the queue (`queue`, the only module that knows DBOS), run them (`executor`, `training`), say that they live and take
over from those that do not (`upkeep`), and are restarted when they die (`supervisor`).
"""
