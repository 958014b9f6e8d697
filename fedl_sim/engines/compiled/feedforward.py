"""Softmax regression and the MLP of `fedl_sim.engines.models`: one kernel each way for zero or one hidden layer."""

import numpy as np

from fedl_sim.engines.compiled.dense import (
    cross_entropy,
    dense,
    dense_backward,
    dense_gradient,
    rectify,
    rectify_backward,
)
from fedl_sim.engines.compiled.descent import add_moments, descend
from fedl_sim.engines.compiled.options import inlined, kernel

__all__ = ["feedforward_epoch", "feedforward_evaluate", "feedforward_gradient"]


@inlined
def _layers(vector, dims):  # type: ignore[no-untyped-def]
    """Split a flat parameter vector; without a hidden layer the first pair is empty."""
    features, hidden, classes = dims
    last = hidden if hidden > 0 else features
    a = hidden * features
    b = a + hidden
    c = b + classes * last
    return (
        vector[:a].reshape((hidden, features)),
        vector[a:b],
        vector[b:c].reshape((classes, last)),
        vector[c:],
    )


@inlined
def _workspace(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate one datapoint's activations and their gradients."""
    features, hidden, classes = dims
    h, d_h = np.zeros(hidden, dtype), np.zeros(hidden, dtype)
    return np.zeros(features, dtype), h, d_h, np.zeros(classes, dtype), np.zeros(classes, dtype)


@inlined
def _forward(layers, pixels, scale, shift, work):  # type: ignore[no-untyped-def]
    """Compute the logits of one datapoint."""
    w1, b1, w2, b2 = layers
    x, h, _d_h, logits, _d_logits = work
    for i in range(x.shape[0]):
        x[i] = pixels[i] * scale + shift
    if h.shape[0] == 0:
        dense(w2, b2, x, logits)
        return
    dense(w1, b1, x, h)
    rectify(h)
    dense(w2, b2, h, logits)


@inlined
def _backward(layers, gradients, work):  # type: ignore[no-untyped-def]
    """Add this datapoint's gradient. The input needs none, so the first layer stops at its weights."""
    _w1, _b1, w2, _b2 = layers
    d_w1, d_b1, d_w2, d_b2 = gradients
    x, h, d_h, _logits, d_logits = work
    if h.shape[0] == 0:
        dense_gradient(x, d_logits, d_w2, d_b2)
        return
    dense_backward(w2, h, d_logits, d_w2, d_b2, d_h)
    rectify_backward(h, d_h)
    dense_gradient(x, d_h, d_w1, d_b1)


@inlined
def feedforward_epoch(  # type: ignore[no-untyped-def]
    parameters, dims, pixels, scale, shift, labels, order, batch_size, learning_rate
):
    """Return the parameters after one epoch of mini-batch gradient descent (eq. 2) in this order."""
    vector = parameters.copy()
    layers = _layers(vector, dims)
    gradient = np.zeros_like(vector)
    gradients = _layers(gradient, dims)
    work = _workspace(dims, vector.dtype)
    for start in range(0, order.shape[0], batch_size):
        stop = min(start + batch_size, order.shape[0])
        for s in range(start, stop):
            d = order[s]
            _forward(layers, pixels[d], scale, shift, work)
            cross_entropy(work[3], labels[d], work[4])
            _backward(layers, gradients, work)
        descend(vector, gradient, vector.dtype.type(learning_rate / (stop - start)))
    return vector


@kernel
def feedforward_gradient(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf, Σ∇f (float64) and Σ‖∇f‖² over these datapoints."""
    layers = _layers(parameters, dims)
    gradient = np.zeros_like(parameters)
    gradients = _layers(gradient, dims)
    work = _workspace(dims, parameters.dtype)
    total = np.zeros(parameters.shape[0], np.float64)
    loss = 0.0
    squares = 0.0
    for s in range(order.shape[0]):
        d = order[s]
        _forward(layers, pixels[d], scale, shift, work)
        loss += cross_entropy(work[3], labels[d], work[4])
        _backward(layers, gradients, work)
        squares += add_moments(gradient, total)
    return loss, total, squares


@kernel
def feedforward_evaluate(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf and how many of these datapoints are classified rightly."""
    layers = _layers(parameters, dims)
    work = _workspace(dims, parameters.dtype)
    loss = 0.0
    correct = 0
    for s in range(order.shape[0]):
        d = order[s]
        _forward(layers, pixels[d], scale, shift, work)
        loss += cross_entropy(work[3], labels[d], work[4])
        if np.argmax(work[3]) == labels[d]:
            correct += 1
    return loss, correct
