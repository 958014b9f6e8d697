"""What every model does with the gradient that its backward pass has summed."""

from fedl_sim.engines.compiled.options import inlined

__all__ = ["add_moments", "descend"]


@inlined
def descend(vector, gradient, step):  # type: ignore[no-untyped-def]
    """Take a step of gradient descent (eq. 2), w ← w − step · ∇, and set the gradient to zero."""
    for j in range(vector.shape[0]):
        vector[j] -= step * gradient[j]
        gradient[j] = 0


@inlined
def add_moments(gradient, total):  # type: ignore[no-untyped-def]
    """Add one datapoint's ∇f to `total`, return ‖∇f‖², and set the gradient to zero."""
    norm = 0.0
    for j in range(gradient.shape[0]):
        g = gradient[j]
        total[j] += g
        norm += g * g
        gradient[j] = 0
    return norm
