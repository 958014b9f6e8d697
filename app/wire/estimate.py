"""How much memory a request is about to need, in bytes, from counts that are known before it needs it (ADR 0045).

Factors are meant as upper bounds. The comment of each says what was measured on one process, or that it was only
calculated. `tests/app/wire/test_budget.py` holds hostile bodies to the growth of a real process, and
`benchmarks.service_memory` requests that just fit the budget (docs/reliability.md has its table).
"""

from dataclasses import dataclass

__all__ = [
    "JsonSize",
    "archive_entries",
    "changed_networks",
    "columns_and_objects",
    "dense_matrices",
    "device_ids",
    "fleet",
    "imported_defaults",
    "imported_text",
    "label_matrix",
    "network",
    "offloading",
    "ordering",
    "orders",
    "sampling",
    "shown_network",
    "steps",
    "training_network",
    "transfers",
    "whole_horizon",
]

# simdjson keeps 16 bytes and two positions of 4 for each number, and we an array of 8 (measured: 29 to 57).
_INDEXED = 40
# pydantic keeps each number parsed and as an object in a list (measured: 64 to 88). A validation keeps it for the
# workers too, as objects and as text (measured: 157 for dense matrices; calculated: 260 for links).
_OBJECT = 300
# A number or a string of an answer of our own, with its share of the object or list that it is in (measured: 61 to 77).
_VALUE = 100
# A list or an object has room for eight values at once, and an unknown field makes an error (measured: 250, 305).
_CONTAINER = 300
_FIELD = 350
# Sorting links makes new columns beside the old ones, and a key (measured: 51 to 128 for a link).
_LINK = 130
_DEVICE = 100
# A fleet's tables: thirteen columns and an id of a device, six columns of a link, twice while they are joined; a label
# count has a device, a class and a number (calculated).
_FLEET_DEVICE, _FLEET_LINK, _FLEET_COUNT = 600, 170, 60
# Two dictionaries and two lists refer to an id, and an answer has it as text (calculated).
_ID = 400
# Masks of a dense matrix while its links are found, and copies of three matrices that were lists (calculated).
_DENSE_CELL = 40
# What samplers keep for a device and a link: objectives hold bounds and sums by device, `surrogate` a plan, `gcn_rank`
# rows of features by device (measured: 450 a device, 790 for `gcn_rank`; 600, 1,130 and for `gcn_rank` 58 a link).
_SAMPLED_DEVICE, _SAMPLED_LINK = 500, 50
_SAMPLED_DEVICE_OF = {"gcn_rank": 1000}
_SAMPLED_LINK_OF = {"gcn_rank": 80, "surrogate": 1300, "coverage": 700}
# The interior-point method has some thirty columns of the links into the sampled devices, and two S×S matrices.
_SOLVED_LINK = 300
_SOLVED_PAIR = 16
# A whole horizon as one problem has some twenty columns of links × steps, and matrices with seven numbers for each pair
# of (sampled device, step); larger ones than these are not solved so (calculated).
_JOINT_LINK, _JOINT_PAIR, _JOINT_ROWS, _JOINT_BLOCKS = 160, 56, 1000, 1_000_000
# For each link and step: the share sent, which the bound on the whole horizon needs, with its masks, and a transfer's
# four numbers. For those that the solver plans in one call (`solver.horizon.sequence`), answers and their useful part
# besides (measured: 12 and 25 in all where few links are used).
_LINK_STEP = 44
_PLANNED_AT_ONCE, _PLANNED_LINK_STEP = 2_000_000, 24
# CVXPY's matrices and Clarabel's factors for a link (a guess, not measured).
_REFERENCE_LINK = 8000
# A number of an answer is in an array, an object in a list, and text: 8 + 32 + 2·20. Two for a sampled device and step,
# four for a transfer, and a step has a dozen of its own (measured: 140, 230, 4,700). In matrices most numbers are zero
# (measured: 49).
_SAMPLED_STEP = 200
_TRANSFER = 300
_STEP = 5000
# A send of an order is in five arrays, an object and text (measured: 322). To make it, a pair of devices has some
# twenty columns (calculated).
_SEND = 400
_ORDERED_PAIR = 200
_CELL = 60
# Likewise for a stored network, whose rows are dictionaries if it is a fleet, with an id or two (measured: 58 for a
# number of a network, and half the estimate for a fleet).
_SHOWN, _ROW = 80, 400
# The directory of an archive: zipfile's record of an entry (calculated).
_ENTRY = 2000
# A network as the trainer reads it is made of objects and of JSON, twice (calculated).
_TRAINED = 200
# A value of a file to import: a row's dictionary, the checked row, the fleet's, and the answer's text; the text itself
# is there as bytes, decoded and in lines (measured: up to 753 for each separator, for tables with one or two columns).
_IMPORTED, _IMPORTED_BYTE = 800, 8
# A default of GraphML is copied to each row, and to the fleet and the answer if it is a field's (calculated).
_DEFAULTED = 250
_SEPARATORS = (b",", b";", b"\t", b"\n", b" ", b"<", b"{", b"[", b":")


@dataclass(frozen=True)
class JsonSize:
    """What JSON text may hold, by its punctuation; characters in strings make it an overestimate only."""

    values: int
    containers: int
    fields: int
    text: int

    @classmethod
    def of(cls, body: bytes) -> "JsonSize":
        """Count."""
        containers = body.count(b"[") + body.count(b"{")
        # One wide or escaped character makes Python keep four bytes for each character of a string.
        wide = not body.isascii() or b"\\" in body
        return cls(body.count(b",") + 1, containers, body.count(b":"), len(body) * (4 if wide else 1))

    def as_arrays(self) -> int:
        """Parsed with simdjson, its numbers in arrays: the text is copied once."""
        return _INDEXED * (self.values + 2 * self.containers + self.fields) + 2 * self.text

    def as_objects(self) -> int:
        """Parsed and checked by pydantic, a Python object for each value."""
        return _OBJECT * self.values + _CONTAINER * self.containers + _FIELD * self.fields + self.text

    def as_values(self) -> int:
        """Parsed into plain Python objects, without checks: an answer of our own."""
        return _VALUE * self.values + self.text


def columns_and_objects(n_numbers: int, n_values: int) -> int:
    """Numbers that stay in arrays, and other values."""
    return 8 * n_numbers + _OBJECT * max(0, n_values)


def imported_text(text: bytes) -> int:
    """A file of any format, read into rows and made a fleet; values are counted by what may stand between them."""
    return _IMPORTED * (1 + sum(map(text.count, _SEPARATORS))) + _IMPORTED_BYTE * len(text)


def imported_defaults(count: int) -> int:
    """Values of a row that the file gives once for all rows."""
    return _DEFAULTED * count


def archive_entries(count: int) -> int:
    """The directory of a zip archive."""
    return _ENTRY * count


def network(n_devices: int, n_links: int, n_cells: int = 0) -> int:
    """A validated network beside the columns, or the matrices of so many cells, that it is made of."""
    return _DEVICE * n_devices + _LINK * n_links + _DENSE_CELL * n_cells


def fleet(n_devices: int, n_links: int, n_counts: int) -> int:
    """The tables of a fleet, with so many label counts."""
    return _FLEET_DEVICE * n_devices + _FLEET_LINK * n_links + _FLEET_COUNT * n_counts


def device_ids(count: int) -> int:
    """The ids of devices by number, the numbers by id, and all of them in an answer."""
    return _ID * count


def label_matrix(n_devices: int, n_classes: int) -> int:
    """A row of label counts for each device: as it is filled, and validated copies."""
    return 3 * 8 * n_devices * n_classes


def changed_networks(n_devices: int, changes: int) -> int:
    """A network for each change of a schedule: the row pointers of its links, and what checking them takes."""
    return 16 * n_devices * changes


def sampling(sampler: str, n_devices: int, n_links: int) -> int:
    """What a sampler, given as NAME or NAME:OBJECTIVE, keeps while it chooses."""
    name, _, objective = sampler.partition(":")
    link = max(_SAMPLED_LINK, _SAMPLED_LINK_OF.get(name, 0), _SAMPLED_LINK_OF.get(objective, 0))
    return _SAMPLED_DEVICE_OF.get(name, _SAMPLED_DEVICE) * n_devices + link * (n_devices + n_links)


def offloading(solver: str, sample_size: int, n_links: int, n_steps: int) -> int:
    """The problems of so many steps while they are solved; `n_links` lead into the sampled devices."""
    receivers = min(sample_size, n_links)
    one = (_REFERENCE_LINK if solver == "cvxpy" else _SOLVED_LINK) * n_links + _SOLVED_PAIR * receivers**2
    cells = n_links * n_steps
    at_once = min(cells, max(_PLANNED_AT_ONCE, n_links))
    return one + _LINK_STEP * cells + _PLANNED_LINK_STEP * at_once


def whole_horizon(sample_size: int, n_links: int, count: int) -> int:
    """All steps of a horizon as one problem, if it is small enough to be solved so."""
    rows = sample_size * count
    if rows > _JOINT_ROWS:
        return 0
    return _JOINT_PAIR * rows**2 + _JOINT_LINK * min(n_links * count, _JOINT_BLOCKS) + 8 * _JOINT_BLOCKS


def steps(sample_size: int, count: int) -> int:
    """The steps of a plan and of its answer, but for the transfers."""
    return count * (_SAMPLED_STEP * sample_size + _STEP)


def transfers(count: int) -> int:
    """Transfers in an answer."""
    return _TRANSFER * count


def ordering(n_pairs: int) -> int:
    """Orders while they are made, for at most so many pairs of devices."""
    return _ORDERED_PAIR * n_pairs


def orders(count: int) -> int:
    """So many sends of orders in an answer."""
    return _SEND * count


def shown_network(n_rows: int, n_numbers: int) -> int:
    """A stored network in an answer: rows of devices and links, and the numbers in them or in columns."""
    return _ROW * n_rows + _SHOWN * n_numbers


def dense_matrices(n_devices: int, count: int) -> int:
    """N×N matrices of numbers in an answer."""
    return _CELL * n_devices**2 * count


def training_network(n_devices: int, n_links: int) -> int:
    """A network as it is handed to workers: five numbers for a device, four for a link."""
    return _TRAINED * (5 * n_devices + 4 * n_links)
