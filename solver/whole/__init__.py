"""The whole horizon as one problem: its bound, its planner and its reference."""
