"""The CNN of `fedl_sim.engines.models.Cnn`: forward, backward and whole epochs, one datapoint at a time.

It is fast at mini-batches of ten, where frameworks spend most of their time on dispatch:
- the convolutions keep their sums in vector registers (see `convolution`), and dropped channels are skipped;
- after max pooling only one position in four has a gradient, and ReLU sets some of those to zero: the backward passes
  visit only the others;
- an epoch keeps the second layer's weights in the order that its loops read them in, and puts them back at its end.
"""

import numpy as np

from fedl_sim.engines.compiled.convolution import (
    STRIP,
    add_first_gradient,
    add_second_gradient,
    aligned,
    correlate_pair,
    correlate_pool_rectify,
    padded,
    shift_copies,
)
from fedl_sim.engines.compiled.dense import cross_entropy, dense, dense_backward, rectify, rectify_backward
from fedl_sim.engines.compiled.descent import add_moments, descend
from fedl_sim.engines.compiled.masks import kept
from fedl_sim.engines.compiled.options import inlined, kernel
from fedl_sim.engines.compiled.pooling import pool_rectify
from fedl_sim.engines.compiled.vectors import NARROW

__all__ = ["cnn_epoch", "cnn_evaluate", "cnn_gradient"]


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
def _packed(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate the convolutions' parameters as their kernels take them: first weights and bias, second weights."""
    _side, c1, k1, c2, k2, _hidden, _classes = dims
    stride = padded(c1)
    return aligned(k1 * k1 * stride, dtype), aligned(stride, dtype), aligned(c2 * k2 * k2 * stride, dtype)


@inlined
def _workspace(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate what one datapoint's forward pass needs."""
    side, c1, k1, c2, k2, hidden, classes = dims
    pooled = (side - k1 + 1) // 2
    out2 = pooled - k2 + 1
    last = out2 // 2
    image = aligned(side * side + STRIP, dtype)
    a1 = aligned(pooled * pooled * padded(c1), dtype)
    where1 = aligned(pooled * pooled * padded(c1), dtype)
    plane = aligned(pooled * pooled + STRIP, dtype)
    copies = aligned(c1 * k2 * (pooled * out2 + STRIP), dtype)
    z2 = aligned((c2 + 1) * (out2 * out2 + STRIP), dtype).reshape((c2 + 1, out2 * out2 + STRIP))
    a2 = np.zeros(c2 * last * last, dtype)
    where2 = np.zeros((c2, last * last), np.uint32)
    keep = np.ones(c2, np.bool_)
    h = np.zeros(hidden, dtype)
    logits = np.zeros(classes, dtype)
    d_logits = np.zeros(classes, dtype)
    chosen = np.zeros(c2, np.int64)
    return image, a1, where1, plane, copies, z2, a2, where2, keep, h, logits, d_logits, chosen


@inlined
def _backward_workspace(dims, dtype):  # type: ignore[no-untyped-def]
    """Allocate intermediate gradients, those of the convolutions' weights, and lists of positions with a gradient."""
    side, c1, k1, c2, k2, hidden, _classes = dims
    pooled = (side - k1 + 1) // 2
    last = (pooled - k2 + 1) // 2
    d_h = np.zeros(hidden, dtype)
    d_a2 = np.zeros(c2 * last * last, dtype)
    d_a1 = aligned(pooled * pooled * padded(c1), dtype)
    d_first = aligned(c1 * k1 * NARROW, dtype)
    d_second = aligned(c2 * k2 * k2 * padded(c1), dtype)
    at = np.zeros(pooled * pooled * padded(c1), np.int32)
    return d_h, d_a2, d_a1, d_first, d_second, at, np.zeros(last * last, dtype), np.zeros(last * last, np.int64)


@inlined
def _load(pixels, scale, shift, image):  # type: ignore[no-untyped-def]
    """Turn stored pixels into features."""
    for p in range(pixels.shape[0]):
        image[p] = pixels[p] * scale + shift


@inlined
def _convolve(b2, packed, work, rescale, side, c1, k1, c2, k2):  # type: ignore[no-untyped-def]
    """Compute what the dense layers take."""
    image, a1, where1, plane, copies, z2, a2, where2, keep, _h, _logits, _d_logits, chosen = work
    correlate_pool_rectify(image, packed[0], packed[1], c1, k1, side, a1, where1)
    pooled = (side - k1 + 1) // 2
    shift_copies(a1, c1, pooled, k2, plane, copies)
    count = 0
    for c in range(c2):
        if keep[c]:
            chosen[count] = c
            count += 1
    for n in range(0, count, 2):
        # An odd last channel is paired with itself, and the second result goes to a row that is not used.
        c, other = chosen[n], chosen[min(n + 1, count - 1)]
        row = other if other != c else c2
        correlate_pair(copies, packed[2], c, other, c1, k2, pooled, b2, z2[c], z2[row])
    out2 = pooled - k2 + 1
    last = out2 // 2
    for c in range(c2):
        part = a2[c * last * last : (c + 1) * last * last]
        if keep[c]:
            pool_rectify(z2[c], out2, last, rescale, part, where2[c])
        else:
            part[:] = 0


@inlined
def _convolve_paper(b2, packed, work, rescale):  # type: ignore[no-untyped-def]
    _convolve(b2, packed, work, rescale, 28, 10, 5, 20, 5)


@inlined
def _forward(layers, packed, dims, work, rescale):  # type: ignore[no-untyped-def]
    """Compute the logits of the image in the workspace; kept channels are multiplied by `rescale`."""
    _w1, _b1, _w2, b2, w3, b3, w4, b4 = layers
    side, c1, k1, c2, k2, _hidden, _classes = dims
    a2, h, logits = work[6], work[9], work[10]
    if side == 28 and c1 == 10 and k1 == 5 and c2 == 20 and k2 == 5:
        _convolve_paper(b2, packed, work, rescale)
    else:
        _convolve(b2, packed, work, rescale, side, c1, k1, c2, k2)
    dense(w3, b3, a2, h)
    rectify(h)
    dense(w4, b4, h, logits)


@inlined
def _convolve_backward(d_b1, d_b2, packed, work, back, rescale, side, c1, k1, c2, k2):  # type: ignore[no-untyped-def]
    """Add the gradients of both convolutions."""
    image, a1, where1, _plane, _copies, _z2, a2, where2, keep, _h, _logits, _d_logits, _chosen = work
    _d_h, d_a2, d_a1, d_first, d_second, at, g, corner = back
    pooled = (side - k1 + 1) // 2
    out2 = pooled - k2 + 1
    area = (out2 // 2) ** 2
    stride = padded(c1)
    d_a1[:] = 0
    for c in range(c2):
        if not keep[c]:
            continue
        count = 0
        for q in range(c * area, (c + 1) * area):
            y, x = divmod(np.int64(where2[c, q - c * area]), out2)
            g[count] = d_a2[q] * rescale
            corner[count] = (y * pooled + x) * stride
            count += 1 if a2[q] > 0 else 0
        d_b2[c] += g[:count].sum()
        kernel = slice(c * k2 * k2 * stride, (c + 1) * k2 * k2 * stride)
        add_second_gradient(g, corner, count, c1, k2, pooled, a1, d_a1, packed[2][kernel], d_second[kernel])
    zero = rescale - rescale
    for j in range(pooled * pooled * stride):
        d_a1[j] = d_a1[j] if a1[j] > 0 else zero
        at[j] = np.int32(where1[j])
    for q in range(0, pooled * pooled * stride, stride):
        for c in range(c1):
            d_b1[c] += d_a1[q + c]
    add_first_gradient(image, d_a1, at, c1, k1, side, pooled * pooled, d_first)


@inlined
def _convolve_backward_paper(d_b1, d_b2, packed, work, back, rescale):  # type: ignore[no-untyped-def]
    _convolve_backward(d_b1, d_b2, packed, work, back, rescale, 28, 10, 5, 20, 5)


@inlined
def _backward(layers, packed, gradients, dims, work, back, rescale):  # type: ignore[no-untyped-def]
    """Add this datapoint's gradient; the gradient of the loss is in the workspace."""
    w3, w4 = layers[4], layers[6]
    _d_w1, d_b1, _d_w2, d_b2, d_w3, d_b3, d_w4, d_b4 = gradients
    side, c1, k1, c2, k2, _hidden, _classes = dims
    a2, h, d_logits = work[6], work[9], work[11]
    d_h, d_a2 = back[0], back[1]
    dense_backward(w4, h, d_logits, d_w4, d_b4, d_h)
    rectify_backward(h, d_h)
    dense_backward(w3, a2, d_h, d_w3, d_b3, d_a2)
    if side == 28 and c1 == 10 and k1 == 5 and c2 == 20 and k2 == 5:
        _convolve_backward_paper(d_b1, d_b2, packed, work, back, rescale)
    else:
        _convolve_backward(d_b1, d_b2, packed, work, back, rescale, side, c1, k1, c2, k2)


@inlined
def _pack_first(layers, packed):  # type: ignore[no-untyped-def]
    """Copy the first layer to [ky, kx, channel]."""
    w1, b1 = layers[0], layers[1]
    c1, k1, _ = w1.shape
    stride = padded(c1)
    for c in range(c1):
        packed[1][c] = b1[c]
        for ky in range(k1):
            for kx in range(k1):
                packed[0][(ky * k1 + kx) * stride + c] = w1[c, ky, kx]


@inlined
def _pack_second(w2, packed):  # type: ignore[no-untyped-def]
    """Copy the second layer to [output channel, ky, kx, input channel]."""
    c2, c1, k2, _ = w2.shape
    stride = padded(c1)
    for o in range(c2):
        for i in range(c1):
            for k in range(k2 * k2):
                packed[(o * k2 * k2 + k) * stride + i] = w2[o, i, k // k2, k % k2]


@inlined
def _unpack_second(packed, w2):  # type: ignore[no-untyped-def]
    """The reverse of `_pack_second`."""
    c2, c1, k2, _ = w2.shape
    stride = padded(c1)
    for o in range(c2):
        for i in range(c1):
            for k in range(k2 * k2):
                w2[o, i, k // k2, k % k2] = packed[(o * k2 * k2 + k) * stride + i]


@inlined
def _unpack_first_gradient(d_first, d_w1):  # type: ignore[no-untyped-def]
    """Move the gradient of the first layer's weights to the gradient vector, and set it to zero."""
    c1, k1, _ = d_w1.shape
    for c in range(c1):
        for ky in range(k1):
            for kx in range(k1):
                d_w1[c, ky, kx] = d_first[(c * k1 + ky) * NARROW + kx]
    d_first[:] = 0


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
    packed = _packed(dims, vector.dtype)
    _pack_second(layers[2], packed[2])
    work = _workspace(dims, vector.dtype)
    back = _backward_workspace(dims, vector.dtype)
    rescale = vector.dtype.type(1 / (1 - rate))
    for start in range(0, order.shape[0], batch_size):
        stop = min(start + batch_size, order.shape[0])
        _pack_first(layers, packed)
        for s in range(start, stop):
            d = order[s]
            _load(pixels[d], scale, shift, work[0])
            for c in range(channels):
                work[8][c] = kept(key, s, channels, c, rate)
            _forward(layers, packed, dims, work, rescale)
            cross_entropy(work[10], labels[d], work[11])
            _backward(layers, packed, gradients, dims, work, back, rescale)
        _unpack_first_gradient(back[3], gradients[0])
        step = vector.dtype.type(learning_rate / (stop - start))
        descend(vector, gradient, step)
        descend(packed[2], back[4], step)
    _unpack_second(packed[2], layers[2])
    return vector


@kernel
def cnn_gradient(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf, Σ∇f (float64) and Σ‖∇f‖² over these datapoints, without dropout."""
    layers = _layers(parameters, dims)
    gradient = np.zeros_like(parameters)
    gradients = _layers(gradient, dims)
    work = _workspace(dims, parameters.dtype)
    back = _backward_workspace(dims, parameters.dtype)
    packed = _packed(dims, parameters.dtype)
    _pack_first(layers, packed)
    _pack_second(layers[2], packed[2])
    one = parameters.dtype.type(1)
    total = np.zeros(parameters.shape[0], np.float64)
    loss = 0.0
    squares = 0.0
    for s in range(order.shape[0]):
        d = order[s]
        _load(pixels[d], scale, shift, work[0])
        _forward(layers, packed, dims, work, one)
        loss += cross_entropy(work[10], labels[d], work[11])
        _backward(layers, packed, gradients, dims, work, back, one)
        _unpack_first_gradient(back[3], gradients[0])
        _unpack_second(back[4], gradients[2])
        back[4][:] = 0
        squares += add_moments(gradient, total)
    return loss, total, squares


@kernel
def cnn_evaluate(parameters, dims, pixels, scale, shift, labels, order):  # type: ignore[no-untyped-def]
    """Return Σf and how many of these datapoints are classified rightly, without dropout."""
    layers = _layers(parameters, dims)
    packed = _packed(dims, parameters.dtype)
    _pack_first(layers, packed)
    _pack_second(layers[2], packed[2])
    work = _workspace(dims, parameters.dtype)
    one = parameters.dtype.type(1)
    loss = 0.0
    correct = 0
    for s in range(order.shape[0]):
        d = order[s]
        _load(pixels[d], scale, shift, work[0])
        _forward(layers, packed, dims, work, one)
        loss += cross_entropy(work[10], labels[d], work[11])
        if np.argmax(work[10]) == labels[d]:
            correct += 1
    return loss, correct
