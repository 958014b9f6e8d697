"""Rows of comparisons with made-up figures."""

from typing import Any

import numpy as np

from app.comparisons.rows import Cell, Figures, Row


def row(sampler: str, objective: float, sent: float = 10.0, /, **told: Any) -> Row:
    seed, size, energy, gap = (
        told.get("seed", 0),
        told.get("size", 2),
        told.get("energy"),
        told.get("gap", 0.0),
    )
    figures = Figures(
        sampled=np.arange(size),
        status="optimal",
        complete=True,
        objective=objective,
        relative_gap=gap,
        horizon_bound=0.0,
        horizon_gap=0.0,
        set_bound=0.1,
        set_gap=1 - 0.1 / objective,
        sent=sent,
        useful=sent,
        transmit_cost=0.0,
        processing_cost=0.0,
        energy=energy,
        coverage=0.5,
    )
    return Row(Cell(sampler, size, 1.0, seed), "planned", figures)
