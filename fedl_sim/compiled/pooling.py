"""2×2 max pooling with ReLU, remembering where each maximum stood."""

from numba import njit

from fedl_sim.compiled.options import KERNEL

__all__ = ["pool_rectify"]


@njit(**KERNEL)
def pool_rectify(x, width, side, scale, out, position):  # type: ignore[no-untyped-def]
    """Write out[q] = max(0, scale · max of the q-th 2×2 block) and the flat position of that maximum.

    `x` lives on a grid of this width; the pooled image is side×side. Among equals the first in reading
    order wins, as in torch.
    """
    for y in range(side):
        for column in range(side):
            p = 2 * y * width + 2 * column
            best, where = x[p], p
            if x[p + 1] > best:
                best, where = x[p + 1], p + 1
            if x[p + width] > best:
                best, where = x[p + width], p + width
            if x[p + width + 1] > best:
                best, where = x[p + width + 1], p + width + 1
            q = y * side + column
            out[q] = best * scale if best > 0 else 0
            position[q] = where
