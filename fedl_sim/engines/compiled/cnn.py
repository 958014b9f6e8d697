"""The CNN of `fedl_sim.engines.models.Cnn`: forward, backward and whole epochs, one datapoint at a time.

It is fast at mini-batches of ten, where frameworks spend most of their time on dispatch:
- the convolutions are long contiguous loops (see `convolution`), and dropped channels are skipped;
- after max pooling only one position in four has a gradient, and ReLU sets some of those to zero. The backward pass of
  the second convolution visits only the others, in a channels-last layout (ky, kx·c₁ + c) with contiguous inner loops.

Channels are computed in pairs; an odd last one is paired with a row that is not used.
"""

import numpy as np

from fedl_sim.engines.compiled.convolution import (
    add_correlation_pair,
    add_correlations_pair,
    add_kernel_gradient_pair,
    padded,
    shift_copies,
)
from fedl_sim.engines.compiled.dense import cross_entropy, dense, dense_backward, rectify, rectify_backward
from fedl_sim.engines.compiled.descent import add_moments, descend
from fedl_sim.engines.compiled.masks import kept
from fedl_sim.engines.compiled.options import inlined, kernel
from fedl_sim.engines.compiled.pooling import pool_rectify

__all__ = ["cnn_epoch", "cnn_evaluate", "cnn_gradient"]

_SLACK = 64  # loop lengths are rounded up to whole vectors, and kernels reach a few values further


@inlined
def _layers(vector, dims):  # type: ignore[no-untyped-def]
    """Split a flat parameter vector into its layers, without copying."""
    side, c1, k1, c2, k2, hidden, classes = dims
    pooled = (side - k1 + 1) // 2
    flat = c2 * ((pooled - k2 + 1) // 2) ** 2
    a = c1 * k1 * k1
    b = a + c1
    c = b + c2 * c1 * k2 * k2
    d = c + c2
    e = d + hidden * flat
    f = e + hidden
    g = f + classes * hidden
    return (
        vector[:a].reshape((c1, k1, k1)),
        vector[a:b],
        vector[b:c].reshape((c2, c1, k2, k2)),
        vector[c:d],
        vector[d:e].reshape((hidden, flat)),
        vector[e:f],
        vector[f:g].reshape((classes, hidden)),
        vector[g:],
    )


@inlined
def _workspace(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate what one datapoint's forward and backward pass needs."""
    side, c1, k1, c2, k2, hidden, classes = dims
    pooled = (side - k1 + 1) // 2
    last = (pooled - k2 + 1) // 2
    out2 = pooled - k2 + 1
    pairs = c1 + c1 % 2
    image = np.zeros(side * side + k1 * side + _SLACK, dtype)
    z1 = np.zeros((pairs, side * side + _SLACK), dtype)
    a1 = np.zeros((c1, pooled * pooled + _SLACK), dtype)
    copies = np.zeros((c1, k2, pooled * out2 + _SLACK), dtype)
    a1_last = np.zeros((pooled * pooled + pooled) * c1, dtype)
    z2 = np.zeros((c2 + 1, out2 * out2 + _SLACK), dtype)
    a2 = np.zeros(c2 * last * last, dtype)
    where1 = np.zeros((c1, pooled * pooled), np.uint32)
    where2 = np.zeros((c2, last * last), np.uint32)
    keep = np.ones(c2, np.bool_)
    h = np.zeros(hidden, dtype)
    logits = np.zeros(classes, dtype)
    d_logits = np.zeros(classes, dtype)
    chosen = np.zeros(c2, np.int64)
    return image, z1, a1, a1_last, z2, a2, where1, where2, keep, h, logits, d_logits, copies, chosen


@inlined
def _backward_workspace(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate intermediate gradients, those of the kernels, and the second layer in channels-last order."""
    side, c1, k1, c2, k2, hidden, _classes = dims
    pooled = (side - k1 + 1) // 2
    last = (pooled - k2 + 1) // 2
    d_h = np.zeros(hidden, dtype)
    d_a2 = np.zeros(c2 * last * last, dtype)
    d_a1_last = np.zeros((pooled * pooled + pooled) * c1, dtype)
    d_z1 = np.zeros((2, side * side + _SLACK), dtype)
    d_kernels = np.zeros((c1 + c1 % 2, k1, k1), dtype)
    rows = np.zeros((c2, k2, k2 * c1), dtype)
    return d_h, d_a2, d_a1_last, d_z1, d_kernels, rows, np.zeros_like(rows)


@inlined
def _load(pixels, scale, shift, image):  # type: ignore[no-untyped-def]
    """Turn stored pixels into features."""
    for p in range(pixels.shape[0]):
        image[p] = pixels[p] * scale + shift


@inlined
def _forward(layers, dims, work, rescale):  # type: ignore[no-untyped-def]
    """Compute the logits of the image in the workspace; kept channels are multiplied by `rescale`."""
    w1, b1, w2, b2, w3, b3, w4, b4 = layers
    side, c1, k1, c2, k2, _hidden, _classes = dims
    image, z1, a1, a1_last, z2, a2, where1, where2, keep, h, logits, _d_logits, copies, chosen = work
    out1 = side - k1 + 1
    pooled = out1 // 2
    length1 = padded((out1 - 1) * side + out1)
    for c in range(c1):
        z1[c, :length1] = b1[c]
    for c in range(0, c1, 2):
        other = min(c + 1, c1 - 1)
        add_correlation_pair(image, w1[c], w1[other], k1, side, z1[c], z1[c + 1], length1)
    one = rescale / rescale
    for c in range(c1):
        pool_rectify(z1[c], side, pooled, one, a1[c], where1[c])
    for q in range(pooled * pooled):
        for c in range(c1):
            a1_last[q * c1 + c] = a1[c, q]
    shift_copies(a1, pooled, k2, copies)

    out2 = pooled - k2 + 1
    length2 = padded(out2 * out2)
    count = 0
    for c in range(c2):
        if keep[c]:
            chosen[count] = c
            count += 1
            z2[c, :length2] = b2[c]
    for n in range(0, count, 2):
        c, other = chosen[n], chosen[min(n + 1, count - 1)]
        row = other if other != c else c2
        add_correlations_pair(copies, w2[c], w2[other], k2, out2, z2[c], z2[row], length2)
    last = out2 // 2
    for c in range(c2):
        part = a2[c * last * last : (c + 1) * last * last]
        if keep[c]:
            pool_rectify(z2[c], out2, last, rescale, part, where2[c])
        else:
            part[:] = 0

    dense(w3, b3, a2, h)
    rectify(h)
    dense(w4, b4, h, logits)


@inlined
def _backward(layers, gradients, dims, work, back, rescale):  # type: ignore[no-untyped-def]
    """Add this datapoint's gradient; the gradient of the loss is in the workspace."""
    _w1, _b1, _w2, _b2, w3, _b3, w4, _b4 = layers
    _d_w1, d_b1, _d_w2, d_b2, d_w3, d_b3, d_w4, d_b4 = gradients
    side, c1, k1, c2, k2, _hidden, _classes = dims
    image, _z1, a1, a1_last, _z2, a2, where1, where2, keep, h, _logits, d_logits, _copies, _chosen = work
    d_h, d_a2, d_a1_last, d_z1, d_kernels, rows, d_rows = back
    dense_backward(w4, h, d_logits, d_w4, d_b4, d_h)
    rectify_backward(h, d_h)
    dense_backward(w3, a2, d_h, d_w3, d_b3, d_a2)

    out1 = side - k1 + 1
    pooled = out1 // 2
    out2 = pooled - k2 + 1
    last = out2 // 2
    d_a1_last[:] = 0
    run = k2 * c1
    for c in range(c2):
        if not keep[c]:
            continue
        for q in range(last * last):
            if a2[c * last * last + q] <= 0:
                continue
            g = d_a2[c * last * last + q] * rescale
            d_b2[c] += g
            y, x0 = divmod(np.int64(where2[c, q]), out2)
            for ky in range(k2):
                at = ((y + ky) * pooled + x0) * c1
                x, d_x = a1_last[at : at + run], d_a1_last[at : at + run]
                w, d_w = rows[c, ky], d_rows[c, ky]
                for j in range(run):
                    d_w[j] += g * x[j]
                    d_x[j] += g * w[j]

    length1 = padded((out1 - 1) * side + out1)
    zero = rescale - rescale
    for first in range(0, c1, 2):
        d_z1[:] = 0
        for c in range(first, min(first + 2, c1)):
            bias = d_b1[c]
            active, at, target = a1[c], where1[c], d_z1[c - first]
            column = d_a1_last[c:]
            for q in range(pooled * pooled):
                # A selection, not a branch: half the ReLUs are closed, and branch prediction would fail.
                g = column[q * c1] if active[q] > 0 else zero
                target[at[q]] = g
                bias += g
            d_b1[c] = bias
        add_kernel_gradient_pair(image, d_z1[0], d_z1[1], k1, side, d_kernels[first], d_kernels[first + 1], length1)


@inlined
def _to_rows(w2, rows):  # type: ignore[no-untyped-def]
    """Copy the second layer to its channels-last rows."""
    c2, c1, k2, _ = w2.shape
    for o in range(c2):
        for ky in range(k2):
            for i in range(c1):
                for kx in range(k2):
                    rows[o, ky, kx * c1 + i] = w2[o, i, ky, kx]


@inlined
def _collect(back, gradients):  # type: ignore[no-untyped-def]
    """Move both convolutions' gradients from the workspace to the gradient vector, and clear the workspace."""
    d_kernels, d_rows = back[4], back[6]
    d_w1, d_w2 = gradients[0], gradients[2]
    d_w1[:] = d_kernels[: d_w1.shape[0]]
    c2, c1, k2, _ = d_w2.shape
    for o in range(c2):
        for ky in range(k2):
            for i in range(c1):
                for kx in range(k2):
                    d_w2[o, i, ky, kx] = d_rows[o, ky, kx * c1 + i]
    d_kernels[:] = 0
    d_rows[:] = 0


@kernel
def cnn_epoch(  # type: ignore[no-untyped-def]
    parameters, dims, pixels, scale, shift, labels, order, batch_size, rate, learning_rate, key
):
    """Return the parameters after one epoch of mini-batch gradient descent (eq. 2) in this order."""
    channels = dims[3]
    vector = parameters.copy()
    layers = _layers(vector, dims)
    gradient = np.zeros_like(vector)
    gradients = _layers(gradient, dims)
    work = _workspace(dims, vector.dtype)
    back = _backward_workspace(dims, vector.dtype)
    rescale = vector.dtype.type(1 / (1 - rate))
    for start in range(0, order.shape[0], batch_size):
        stop = min(start + batch_size, order.shape[0])
        _to_rows(layers[2], back[5])
        for s in range(start, stop):
            d = order[s]
            _load(pixels[d], scale, shift, work[0])
            for c in range(channels):
                work[8][c] = kept(key, s, channels, c, rate)
            _forward(layers, dims, work, rescale)
            cross_entropy(work[10], labels[d], work[11])
            _backward(layers, gradients, dims, work, back, rescale)
        _collect(back, gradients)
        descend(vector, gradient, vector.dtype.type(learning_rate / (stop - start)))
    return vector


@kernel
def cnn_gradient(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf, Σ∇f (float64) and Σ‖∇f‖² over these datapoints, without dropout."""
    layers = _layers(parameters, dims)
    gradient = np.zeros_like(parameters)
    gradients = _layers(gradient, dims)
    work = _workspace(dims, parameters.dtype)
    back = _backward_workspace(dims, parameters.dtype)
    _to_rows(layers[2], back[5])
    one = parameters.dtype.type(1)
    total = np.zeros(parameters.shape[0], np.float64)
    loss = 0.0
    squares = 0.0
    for s in range(order.shape[0]):
        d = order[s]
        _load(pixels[d], scale, shift, work[0])
        _forward(layers, dims, work, one)
        loss += cross_entropy(work[10], labels[d], work[11])
        _backward(layers, gradients, dims, work, back, one)
        _collect(back, gradients)
        squares += add_moments(gradient, total)
    return loss, total, squares


@kernel
def cnn_evaluate(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf and how many of these datapoints are classified rightly, without dropout."""
    layers = _layers(parameters, dims)
    work = _workspace(dims, parameters.dtype)
    one = parameters.dtype.type(1)
    loss = 0.0
    correct = 0
    for s in range(order.shape[0]):
        d = order[s]
        _load(pixels[d], scale, shift, work[0])
        _forward(layers, dims, work, one)
        loss += cross_entropy(work[10], labels[d], work[11])
        if np.argmax(work[10]) == labels[d]:
            correct += 1
    return loss, correct
