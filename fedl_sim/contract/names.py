"""Names that the service offers and the simulator knows. Tests hold both to this list."""

__all__ = ["BUDGETS", "DATA_SETS", "GIVEN_PLAN", "MODELS", "TOPOLOGIES", "TRANSFERS"]

DATA_SETS = ("digits", "mnist", "fashion-mnist")
MODELS = ("softmax", "mlp", "cnn")

# Random graphs (Sec. V-A and beyond), and how much a step of them may move.
TOPOLOGIES = ("erdos-renyi", "geometric", "barabasi-albert", "watts-strogatz")
BUDGETS = ("loose", "tight", "scarce")

# What a sender sends over a link that it has used before.
TRANSFERS = ("send_once", "redraw")

# The scheme that carries out a plan made elsewhere.
GIVEN_PLAN = "plan"
