"""Dense layers and the loss, for one datapoint at a time."""

import math

from fedl_sim.engines.compiled.options import inlined

__all__ = ["cross_entropy", "dense", "dense_backward", "dense_gradient", "rectify", "rectify_backward"]


@inlined
def dense(weight, bias, x, out):  # type: ignore[no-untyped-def]
    """Write out = W x + b."""
    for o in range(weight.shape[0]):
        row = weight[o]
        total = bias[o]
        for i in range(x.shape[0]):
            total += row[i] * x[i]
        out[o] = total


@inlined
def dense_gradient(x, d_out, d_weight, d_bias):  # type: ignore[no-untyped-def]
    """Add d_out xᵀ to the weights' gradient and d_out to the bias's."""
    for o in range(d_weight.shape[0]):
        g = d_out[o]
        if g == 0:
            continue
        d_row = d_weight[o]
        d_bias[o] += g
        for i in range(x.shape[0]):
            d_row[i] += g * x[i]


@inlined
def dense_backward(weight, x, d_out, d_weight, d_bias, d_x):  # type: ignore[no-untyped-def]
    """Add to the gradients as `dense_gradient` does, and write d_x = Wᵀ d_out for the layer before."""
    dense_gradient(x, d_out, d_weight, d_bias)
    d_x[:] = 0
    for o in range(weight.shape[0]):
        g = d_out[o]
        if g == 0:
            continue
        row = weight[o]
        for i in range(x.shape[0]):
            d_x[i] += g * row[i]


@inlined
def rectify(x):  # type: ignore[no-untyped-def]
    """Apply ReLU in place; NaN stays NaN."""
    for i in range(x.shape[0]):
        if x[i] < 0:
            x[i] = 0


@inlined
def rectify_backward(x, d_x):  # type: ignore[no-untyped-def]
    """Set the gradient to zero where the ReLU was closed."""
    for i in range(x.shape[0]):
        if x[i] <= 0:
            d_x[i] = 0


@inlined
def cross_entropy(logits, label, d_logits):  # type: ignore[no-untyped-def]
    """Return f(w, x, y) = −log softmax(logits)[y]; write its gradient softmax − onehot."""
    top = logits[0]
    for c in range(1, logits.shape[0]):
        top = max(top, logits[c])
    total = 0.0
    for c in range(logits.shape[0]):
        e = math.exp(logits[c] - top)
        d_logits[c] = e
        total += e
    for c in range(logits.shape[0]):
        d_logits[c] /= total
    d_logits[label] -= 1
    return math.log(total) + top - logits[label]
