"""Convolutions on flattened images.

An output pixel at p = y·width + x of the *input's* grid is Σ w[ky, kx] · image[p + ky·width + kx], so the
inner loop runs over p through the whole image in one go: long, contiguous, vectorised. The few values
at row ends are of no image pixel and nobody reads them. Buffers are padded so that the loop length can
be rounded up to whole vectors.
"""

from numba import njit

from fedl_sim.compiled.options import KERNEL

__all__ = ["add_correlation", "add_correlation_pair", "add_kernel_gradient", "padded"]

_LANES = 32  # four AVX2 registers of float32: what LLVM unrolls to


@njit(**KERNEL)
def padded(length):  # type: ignore[no-untyped-def]
    """Round a loop length up to whole unrolled vectors."""
    return (length + _LANES - 1) // _LANES * _LANES


@njit(**KERNEL)
def add_correlation(image, kernel, size, width, out, length):  # type: ignore[no-untyped-def]
    """Add the correlation of one image channel with one kernel (size×size) to `out[:length]`."""
    if size == 5:
        # Five taps per load and store of the output: one tap at a time would be bound by the stores.
        for ky in range(5):
            row = image[ky * width :]
            w0, w1, w2 = kernel[ky, 0], kernel[ky, 1], kernel[ky, 2]
            w3, w4 = kernel[ky, 3], kernel[ky, 4]
            for p in range(length):
                out[p] += w0 * row[p] + w1 * row[p + 1] + w2 * row[p + 2] + w3 * row[p + 3] + w4 * row[p + 4]
        return
    for ky in range(size):
        for kx in range(size):
            row = image[ky * width + kx :]
            w = kernel[ky, kx]
            for p in range(length):
                out[p] += w * row[p]


@njit(**KERNEL)
def add_correlation_pair(image, kernel, other, size, width, out, other_out, length):  # type: ignore[no-untyped-def]
    """Do two kernels over the same image channel at once: each pixel is loaded once for both."""
    if size == 5:
        for ky in range(5):
            row = image[ky * width :]
            v0, v1, v2, v3, v4 = kernel[ky, 0], kernel[ky, 1], kernel[ky, 2], kernel[ky, 3], kernel[ky, 4]
            w0, w1, w2, w3, w4 = other[ky, 0], other[ky, 1], other[ky, 2], other[ky, 3], other[ky, 4]
            for p in range(length):
                x0, x1, x2, x3, x4 = row[p], row[p + 1], row[p + 2], row[p + 3], row[p + 4]
                out[p] += v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3 + v4 * x4
                other_out[p] += w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3 + w4 * x4
        return
    add_correlation(image, kernel, size, width, out, length)
    add_correlation(image, other, size, width, other_out, length)


@njit(**KERNEL)
def add_kernel_gradient(image, d_out, size, width, d_kernel, length):  # type: ignore[no-untyped-def]
    """Add Σ_p d_out[p] · image[p + ky·width + kx] to the kernel's gradient at each (ky, kx)."""
    zero = d_out.dtype.type(0)
    if size == 5:
        for ky in range(5):
            row = image[ky * width :]
            s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
            for p in range(length):
                g = d_out[p]
                s0 += g * row[p]
                s1 += g * row[p + 1]
                s2 += g * row[p + 2]
                s3 += g * row[p + 3]
                s4 += g * row[p + 4]
            d_kernel[ky, 0] += s0
            d_kernel[ky, 1] += s1
            d_kernel[ky, 2] += s2
            d_kernel[ky, 3] += s3
            d_kernel[ky, 4] += s4
        return
    for ky in range(size):
        for kx in range(size):
            row = image[ky * width + kx :]
            total = zero
            for p in range(length):
                total += d_out[p] * row[p]
            d_kernel[ky, kx] += total
