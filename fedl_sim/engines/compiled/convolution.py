"""Convolutions as long contiguous loops, which LLVM turns into vector instructions.

One input channel: an output pixel at p = y·width + x of the *input's* grid is Σ w[ky, kx] · image[p +
ky·width + kx], so one inner loop runs through the whole image. The few values at row ends belong to no
output pixel and are not used. Buffers are padded so that loop lengths can be rounded up to whole vectors.

Many input channels of a small image: a third of the work would be such unused values. So each channel is first copied
once per kx, shifted and cut to the output's width; then p runs through the output's own grid.

Five taps are summed for each load and store of the output, since with one at a time the stores would take most of the
time. For the paper's shape (28×28 images, kernels of 5) some functions have the sizes as literals: loops of a length
known at compile time run two to four times as fast. They are separate functions because LLVM merges two calls that
differ only in literals.
"""

from fedl_sim.engines.compiled.options import inlined

__all__ = [
    "add_correlation_pair",
    "add_correlations_pair",
    "add_kernel_gradient_pair",
    "padded",
    "shift_copies",
]

_LANES = 32  # four AVX2 registers of float32: what LLVM unrolls to


@inlined
def padded(length):  # type: ignore[no-untyped-def]
    """Round a loop length up to whole unrolled vectors."""
    return (length + _LANES - 1) // _LANES * _LANES


@inlined
def _correlate_5(image, kernel, other, width, out, other_out, length):  # type: ignore[no-untyped-def]
    for ky in range(5):
        row = image[ky * width :]
        v0, v1, v2, v3, v4 = kernel[ky, 0], kernel[ky, 1], kernel[ky, 2], kernel[ky, 3], kernel[ky, 4]
        w0, w1, w2, w3, w4 = other[ky, 0], other[ky, 1], other[ky, 2], other[ky, 3], other[ky, 4]
        for p in range(length):
            x0, x1, x2, x3, x4 = row[p], row[p + 1], row[p + 2], row[p + 3], row[p + 4]
            out[p] += v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3 + v4 * x4
            other_out[p] += w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3 + w4 * x4


@inlined
def _correlate_5_in_28(image, kernel, other, out, other_out):  # type: ignore[no-untyped-def]
    _correlate_5(image, kernel, other, 28, out, other_out, 672)


@inlined
def add_correlation_pair(image, kernel, other, size, width, out, other_out, length):  # type: ignore[no-untyped-def]
    """Correlate one channel with two kernels (size×size) at once: each pixel is loaded once for both."""
    if size == 5 and width == 28 and length == 672:
        _correlate_5_in_28(image, kernel, other, out, other_out)
    elif size == 5:
        _correlate_5(image, kernel, other, width, out, other_out, length)
    else:
        for ky in range(size):
            for kx in range(size):
                row = image[ky * width + kx :]
                v, w = kernel[ky, kx], other[ky, kx]
                for p in range(length):
                    out[p] += v * row[p]
                    other_out[p] += w * row[p]


@inlined
def _kernel_gradient_5(image, d_out, d_other, width, d_kernel, d_other_kernel, length):  # type: ignore[no-untyped-def]
    zero = d_out.dtype.type(0)
    for ky in range(5):
        row = image[ky * width :]
        s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
        t0, t1, t2, t3, t4 = zero, zero, zero, zero, zero
        for p in range(length):
            g, h = d_out[p], d_other[p]
            x0, x1, x2, x3, x4 = row[p], row[p + 1], row[p + 2], row[p + 3], row[p + 4]
            s0 += g * x0
            s1 += g * x1
            s2 += g * x2
            s3 += g * x3
            s4 += g * x4
            t0 += h * x0
            t1 += h * x1
            t2 += h * x2
            t3 += h * x3
            t4 += h * x4
        for kx, s, t in ((0, s0, t0), (1, s1, t1), (2, s2, t2), (3, s3, t3), (4, s4, t4)):
            d_kernel[ky, kx] += s
            d_other_kernel[ky, kx] += t


@inlined
def _kernel_gradient_5_in_28(image, d_out, d_other, d_kernel, d_other_kernel):  # type: ignore[no-untyped-def]
    _kernel_gradient_5(image, d_out, d_other, 28, d_kernel, d_other_kernel, 672)


@inlined
def add_kernel_gradient_pair(image, d_out, d_other, size, width, d_kernel, d_other_kernel, length):  # type: ignore[no-untyped-def]
    """Add Σ_p d_out[p] · image[p + ky·width + kx] to each (ky, kx) of two kernels' gradients."""
    if size == 5 and width == 28 and length == 672:
        _kernel_gradient_5_in_28(image, d_out, d_other, d_kernel, d_other_kernel)
    elif size == 5:
        _kernel_gradient_5(image, d_out, d_other, width, d_kernel, d_other_kernel, length)
    else:
        for ky in range(size):
            for kx in range(size):
                row = image[ky * width + kx :]
                s, t = d_out.dtype.type(0), d_out.dtype.type(0)
                for p in range(length):
                    s += d_out[p] * row[p]
                    t += d_other[p] * row[p]
                d_kernel[ky, kx] += s
                d_other_kernel[ky, kx] += t


@inlined
def _copy_rows(channels, side, size, copies):  # type: ignore[no-untyped-def]
    width = side - size + 1
    for i in range(channels.shape[0]):
        for kx in range(size):
            for y in range(side):
                source, target = channels[i, y * side + kx :], copies[i, kx, y * width :]
                for x in range(width):
                    target[x] = source[x]


@inlined
def _copy_rows_5_in_12(channels, copies):  # type: ignore[no-untyped-def]
    _copy_rows(channels, 12, 5, copies)


@inlined
def shift_copies(channels, side, size, copies):  # type: ignore[no-untyped-def]
    """Write copies[i, kx, y·w + x] = channels[i, y·side + kx + x] for x < w = side − size + 1."""
    if side == 12 and size == 5:
        _copy_rows_5_in_12(channels, copies)
    else:
        _copy_rows(channels, side, size, copies)


@inlined
def _correlate_all_5(copies, kernels, others, width, out, other_out, length):  # type: ignore[no-untyped-def]
    for i in range(copies.shape[0]):
        for ky in range(5):
            at = ky * width
            x0, x1, x2 = copies[i, 0, at:], copies[i, 1, at:], copies[i, 2, at:]
            x3, x4 = copies[i, 3, at:], copies[i, 4, at:]
            v0, v1, v2 = kernels[i, ky, 0], kernels[i, ky, 1], kernels[i, ky, 2]
            v3, v4 = kernels[i, ky, 3], kernels[i, ky, 4]
            w0, w1, w2 = others[i, ky, 0], others[i, ky, 1], others[i, ky, 2]
            w3, w4 = others[i, ky, 3], others[i, ky, 4]
            for p in range(length):
                y0, y1, y2, y3, y4 = x0[p], x1[p], x2[p], x3[p], x4[p]
                out[p] += v0 * y0 + v1 * y1 + v2 * y2 + v3 * y3 + v4 * y4
                other_out[p] += w0 * y0 + w1 * y1 + w2 * y2 + w3 * y3 + w4 * y4


@inlined
def _correlate_all_5_in_12(copies, kernels, others, out, other_out):  # type: ignore[no-untyped-def]
    _correlate_all_5(copies, kernels, others, 8, out, other_out, 64)


@inlined
def add_correlations_pair(copies, kernels, others, size, width, out, other_out, length):  # type: ignore[no-untyped-def]
    """Add Σ_i the correlation of channel i with kernels[i] to `out`, and with others[i] to `other_out`."""
    if size == 5 and width == 8 and length == 64:
        _correlate_all_5_in_12(copies, kernels, others, out, other_out)
    elif size == 5:
        _correlate_all_5(copies, kernels, others, width, out, other_out, length)
    else:
        for i in range(copies.shape[0]):
            for ky in range(size):
                for kx in range(size):
                    x, v, w = copies[i, kx, ky * width :], kernels[i, ky, kx], others[i, ky, kx]
                    for p in range(length):
                        out[p] += v * x[p]
                        other_out[p] += w * x[p]
