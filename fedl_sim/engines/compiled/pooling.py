"""2×2 max pooling with ReLU; it records the position of each maximum."""

from fedl_sim.engines.compiled.options import inlined

__all__ = ["pool_rectify"]


@inlined
def pool_rectify(x, width, side, scale, out, position):  # type: ignore[no-untyped-def]
    """Write out[q] = max(0, scale · max of the q-th 2×2 block) and the flat position of that maximum.

    `x` is on a grid of this width; the pooled image is side×side. Among equal values the first in reading order counts,
    as in torch.
    """
    # Selections instead of branches: the position of the maximum cannot be predicted, and a mispredicted branch
    # costs more than the comparison.
    for y in range(side):
        up, down = x[2 * y * width :], x[(2 * y + 1) * width :]
        row, at = out[y * side :], position[y * side :]
        for column in range(side):
            a, b = up[2 * column], up[2 * column + 1]
            c, d = down[2 * column], down[2 * column + 1]
            top = max(a, b)
            bottom = max(c, d)
            best = max(top, bottom)
            top_at = 1 if b > a else 0
            bottom_at = width + 1 if d > c else width
            at[column] = 2 * y * width + 2 * column + (bottom_at if bottom > top else top_at)
            row[column] = best * scale if best > 0 else 0
