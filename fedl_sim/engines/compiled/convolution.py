"""Both convolutions, one datapoint at a time, on explicit vectors (see `vectors`).

The first has one input channel and few output channels. Its vectors run over *channels*: every number of the image is
multiplied by the weights of sixteen channels. Pooling then compares whole vectors. Its output has the channels last:
[pixel, channel], with channels padded to whole vectors by zeros.

The second has many input channels. Its vectors run over *pixels* of the output, since dropout removes whole channels.
Each input channel is first copied once per kx, shifted and cut to the output's width, so that pixels lie side by side.

After max pooling at most one position in four has a gradient. Both backward passes visit only these positions.

Kernels of five, the paper's, have loops of their own: five vectors of sums stay in registers.
"""

import numpy as np

from fedl_sim.engines.compiled.options import inlined
from fedl_sim.engines.compiled.vectors import NARROW, WIDE, if_greater, load, load_narrow, multiply_add, spread, store

__all__ = [
    "STRIP",
    "add_first_gradient",
    "add_second_gradient",
    "aligned",
    "correlate_pair",
    "correlate_pool_rectify",
    "padded",
    "shift_copies",
]

STRIP = 4 * WIDE  # output pixels that are computed at once
_LINE = 64  # bytes of a cache line


@inlined
def padded(count):  # type: ignore[no-untyped-def]
    """Round a number of channels up to whole vectors."""
    return (count + WIDE - 1) // WIDE * WIDE


@inlined
def _pool(a, b, c, d, first, width, out, position, at):  # type: ignore[no-untyped-def]
    """Write max(0, the maximum of a 2×2 block) and its position; among equals the first counts, as in torch."""
    one = spread(position.dtype.type(1), first)
    down = spread(position.dtype.type(width), first)
    top, top_at = if_greater(b, a, b, a), if_greater(b, a, multiply_add(one, one, first), first)
    below = multiply_add(one, down, first)
    bottom, bottom_at = if_greater(d, c, d, c), if_greater(d, c, multiply_add(one, one, below), below)
    best = if_greater(bottom, top, bottom, top)
    zero = spread(out.dtype.type(0), best)
    store(out, at, if_greater(best, zero, best, zero))
    store(position, at, if_greater(bottom, top, bottom_at, top_at))


@inlined
def aligned(count, dtype):  # type: ignore[no-untyped-def]
    """Zeros that begin with a cache line, so that no vector lies in two of them."""
    base = np.zeros(count + _LINE, dtype)
    skip = (-base.ctypes.data % _LINE) // base.itemsize
    return base[skip : skip + count]


@inlined
def correlate_pool_rectify(image, weights, bias, channels, size, width, out, position):  # type: ignore[no-untyped-def]
    """First layer: correlate, pool 2×2, ReLU. Two blocks of pooling are computed at once.

    Args:
        image: width×width, with slack behind it.
        weights: [ky, kx, channel], flat, channels padded.
        bias: [channel], padded.
        channels: of the output.
        size: of the kernel.
        width: of the image.
        out: [pixel, channel], flat, channels padded.
        position: like `out`: where in the image's grid the maximum was, as a number of `out`'s type.
    """
    stride = padded(channels)
    pooled = (width - size + 1) // 2
    for block in range(0, stride, WIDE):
        start = load(bias, block)
        for y in range(pooled):
            for x in range(0, pooled, 2):
                corner = 2 * y * width + 2 * x
                s0, s1, s2, s3, s4, s5, s6, s7 = start, start, start, start, start, start, start, start
                for ky in range(size):
                    for kx in range(size):
                        w = load(weights, (ky * size + kx) * stride + block)
                        p = corner + ky * width + kx
                        q = p + width
                        s0 = multiply_add(w, spread(image[p], w), s0)
                        s1 = multiply_add(w, spread(image[p + 1], w), s1)
                        s2 = multiply_add(w, spread(image[p + 2], w), s2)
                        s3 = multiply_add(w, spread(image[p + 3], w), s3)
                        s4 = multiply_add(w, spread(image[q], w), s4)
                        s5 = multiply_add(w, spread(image[q + 1], w), s5)
                        s6 = multiply_add(w, spread(image[q + 2], w), s6)
                        s7 = multiply_add(w, spread(image[q + 3], w), s7)
                at = (y * pooled + x) * stride + block
                _pool(s0, s1, s4, s5, spread(out.dtype.type(corner), start), width, out, position, at)
                if x + 1 < pooled:
                    right = spread(out.dtype.type(corner + 2), start)
                    _pool(s2, s3, s6, s7, right, width, out, position, at + stride)


@inlined
def add_first_gradient(image, d_out, position, channels, size, width, pixels, d_weights):  # type: ignore[no-untyped-def]
    """Add the gradient of the first layer's weights, [channel, ky, NARROW].

    Args:
        image: as for the forward pass.
        d_out: [pixel, channel], flat: the gradient behind the ReLU, zero where that was closed.
        position: of each maximum in the image's grid, like `d_out`.
        channels: of the output.
        size: of the kernel.
        width: of the image.
        pixels: of the output.
        d_weights: flat.
    """
    stride = padded(channels)
    for c in range(channels):
        at = c * size * NARROW
        if size == 5:
            s0, s1 = load_narrow(d_weights, at), load_narrow(d_weights, at + NARROW)
            s2, s3 = load_narrow(d_weights, at + 2 * NARROW), load_narrow(d_weights, at + 3 * NARROW)
            s4 = load_narrow(d_weights, at + 4 * NARROW)
            for q in range(c, pixels * stride, stride):
                p, g = position[q], spread(d_out[q], s0)
                s0 = multiply_add(load_narrow(image, p), g, s0)
                s1 = multiply_add(load_narrow(image, p + width), g, s1)
                s2 = multiply_add(load_narrow(image, p + 2 * width), g, s2)
                s3 = multiply_add(load_narrow(image, p + 3 * width), g, s3)
                s4 = multiply_add(load_narrow(image, p + 4 * width), g, s4)
            store(d_weights, at, s0)
            store(d_weights, at + NARROW, s1)
            store(d_weights, at + 2 * NARROW, s2)
            store(d_weights, at + 3 * NARROW, s3)
            store(d_weights, at + 4 * NARROW, s4)
        else:
            for q in range(c, pixels * stride, stride):
                for ky in range(size):
                    row = load_narrow(image, position[q] + ky * width)
                    old = load_narrow(d_weights, at + ky * NARROW)
                    store(d_weights, at + ky * NARROW, multiply_add(row, spread(d_out[q], row), old))


@inlined
def shift_copies(last, channels, side, size, plane, copies):  # type: ignore[no-untyped-def]
    """Write copies[i, kx, y·w + x] = last[y·side + kx + x, i] for x < w = side − size + 1, channel by channel.

    Each i and kx has side·w + STRIP numbers. A vector that is longer than a row is overwritten by the next row. `plane`
    is room for a channel.
    """
    stride = padded(channels)
    width = side - size + 1
    room = side * width + STRIP
    for i in range(channels):
        for p in range(side * side):
            plane[p] = last[p * stride + i]
        for kx in range(size):
            target = (i * size + kx) * room
            for y in range(side):
                for x in range(0, width, NARROW):
                    store(copies, target + y * width + x, load_narrow(plane, y * side + kx + x))


@inlined
def correlate_pair(copies, weights, first, second, channels, size, side, biases, out, other):  # type: ignore[no-untyped-def]
    """Second layer, two output channels at once: out = bias + Σ_i the correlation of input channel i with its kernel.

    Args:
        copies: from `shift_copies`.
        weights: [output channel, ky, kx, input channel], flat, input channels padded.
        first: output channel of `out`.
        second: output channel of `other`.
        channels: of the input.
        size: of the kernel.
        side: of the input.
        biases: of the output channels.
        out: flat, with room up to whole strips.
        other: like `out`.
    """
    stride = padded(channels)
    width = side - size + 1
    room = side * width + STRIP
    for p in range(0, width * width, STRIP):
        like = load(copies, p)
        s0 = spread(biases[first], like)
        t0 = spread(biases[second], like)
        s1, s2, s3 = s0, s0, s0
        t1, t2, t3 = t0, t0, t0
        for i in range(channels):
            for ky in range(size):
                for kx in range(size):
                    at = (i * size + kx) * room + ky * width + p
                    tap = (ky * size + kx) * stride + i
                    v = spread(weights[first * size * size * stride + tap], like)
                    w = spread(weights[second * size * size * stride + tap], like)
                    x0, x1 = load(copies, at), load(copies, at + WIDE)
                    x2, x3 = load(copies, at + 2 * WIDE), load(copies, at + 3 * WIDE)
                    s0, s1 = multiply_add(x0, v, s0), multiply_add(x1, v, s1)
                    s2, s3 = multiply_add(x2, v, s2), multiply_add(x3, v, s3)
                    t0, t1 = multiply_add(x0, w, t0), multiply_add(x1, w, t1)
                    t2, t3 = multiply_add(x2, w, t2), multiply_add(x3, w, t3)
        store(out, p, s0)
        store(out, p + WIDE, s1)
        store(out, p + 2 * WIDE, s2)
        store(out, p + 3 * WIDE, s3)
        store(other, p, t0)
        store(other, p + WIDE, t1)
        store(other, p + 2 * WIDE, t2)
        store(other, p + 3 * WIDE, t3)


@inlined
def add_second_gradient(g, corner, count, channels, size, side, last, d_last, weights, d_weights):  # type: ignore[no-untyped-def]
    """Add what the gradient at some pixels of an output channel gives to its kernel and to the layer's input.

    Args:
        g: the gradient at each of these pixels.
        corner: where the window of each begins in the input.
        count: of these pixels.
        channels: of the input.
        size: of the kernel.
        side: of the input.
        last: the input, [pixel, channel], flat, channels padded.
        d_last: its gradient.
        weights: the channel's kernel, [ky, kx, input channel].
        d_weights: its gradient.
    """
    stride = padded(channels)
    for ky in range(size):
        down, tap = ky * side * stride, ky * size * stride
        if size == 5 and stride == WIDE:
            w0, w1, w2 = load(weights, tap), load(weights, tap + WIDE), load(weights, tap + 2 * WIDE)
            w3, w4 = load(weights, tap + 3 * WIDE), load(weights, tap + 4 * WIDE)
            s0, s1, s2 = load(d_weights, tap), load(d_weights, tap + WIDE), load(d_weights, tap + 2 * WIDE)
            s3, s4 = load(d_weights, tap + 3 * WIDE), load(d_weights, tap + 4 * WIDE)
            for n in range(count):
                at, h = corner[n] + down, spread(g[n], s0)
                s0 = multiply_add(load(last, at), h, s0)
                s1 = multiply_add(load(last, at + WIDE), h, s1)
                s2 = multiply_add(load(last, at + 2 * WIDE), h, s2)
                s3 = multiply_add(load(last, at + 3 * WIDE), h, s3)
                s4 = multiply_add(load(last, at + 4 * WIDE), h, s4)
                store(d_last, at, multiply_add(w0, h, load(d_last, at)))
                store(d_last, at + WIDE, multiply_add(w1, h, load(d_last, at + WIDE)))
                store(d_last, at + 2 * WIDE, multiply_add(w2, h, load(d_last, at + 2 * WIDE)))
                store(d_last, at + 3 * WIDE, multiply_add(w3, h, load(d_last, at + 3 * WIDE)))
                store(d_last, at + 4 * WIDE, multiply_add(w4, h, load(d_last, at + 4 * WIDE)))
            store(d_weights, tap, s0)
            store(d_weights, tap + WIDE, s1)
            store(d_weights, tap + 2 * WIDE, s2)
            store(d_weights, tap + 3 * WIDE, s3)
            store(d_weights, tap + 4 * WIDE, s4)
        else:
            for n in range(count):
                at = corner[n] + down
                for j in range(0, size * stride, WIDE):
                    x, w = load(last, at + j), load(weights, tap + j)
                    h = spread(g[n], x)
                    store(d_weights, tap + j, multiply_add(x, h, load(d_weights, tap + j)))
                    store(d_last, at + j, multiply_add(w, h, load(d_last, at + j)))
