"""Hostile bodies: what they cost the serving process, and what they answer."""

import io
import time
import zipfile
from collections.abc import Callable

import httpx
import numpy as np

from benchmarks.chaos import hostile
from benchmarks.chaos.exchange import PLAN, ask
from benchmarks.chaos.memory_watch import Growth
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Site

_MOST_MEGABYTES = 400.0
_MOST_SECONDS = 2.0
_WORDS = {
    "long-array": "57 kB of gzip: a column of 29 million numbers that ends in a word",
    "empty-label-counts": "55 kB of gzip: label counts of 19 million empty rows",
    "archive-of-zeros": "an .npz archive of zeros, 475 MB when unpacked",
    "long-horizon": "20,000 sampled devices over 2,000 steps",
    "dense-validation": "a validation of dense 3,000 × 3,000 matrices",
    "matrix-answer": "an answer of 20 dense 1,000 × 1,000 matrices",
}


def _under(name: str) -> Callable[[Site], Outcome]:
    def run(site: Site) -> Outcome:
        path, body, headers = hostile.BODIES[name]()
        with site.service(site.sqlite().url) as service:
            ask(service, "POST", "/v1/plans", json=PLAN)
            growth = Growth(service)
            begin = time.monotonic()
            with service.client(120) as client:
                try:
                    answer = str(client.post(path, content=body, headers=headers).status_code)
                except httpx.HTTPError as error:
                    answer = type(error).__name__
            seconds = time.monotonic() - begin
            more = growth.most()
        holds = more <= _MOST_MEGABYTES and seconds <= _MOST_SECONDS and answer.startswith("4")
        return Outcome(f"{answer} in {seconds:.1f} s, {more:,.0f} MB more", holds)

    return run


for _name in hostile.BODIES:
    scenario(
        f"body-{_name}",
        _WORDS[_name],
        "a problem within 2 s, at most 400 MB above rest",
        forked=_name in {"long-array", "archive-of-zeros"},
    )(_under(_name))


@scenario(
    "gzip-members",
    "gzip of a million empty members (20 MB)",
    "a problem within 2 s",
)
def members(site: Site) -> Outcome:
    """Each member costs a copy of what follows it, if read carelessly."""
    path, body, headers = hostile.gzip_members(1_000_000)
    with site.service(site.sqlite().url) as service:
        status, seconds = ask(service, "POST", path, seconds=60, content=body, headers=headers)
    answer = f"{status} in {seconds:.1f} s" if status else f"no answer in {seconds:.0f} s"
    return Outcome(answer, 400 <= status < 500 and seconds <= _MOST_SECONDS)


@scenario(
    "broken-archives",
    ".npz archives broken in eight ways (LZMA, bad headers, wrong types)",
    "each answers a problem, none a 500",
)
def broken_archives(site: Site) -> Outcome:
    """What Python's zipfile and NumPy raise is no reason for a 500."""
    with site.service(site.sqlite().url) as service:
        statuses = []
        for body in _broken():
            status, _ = ask(service, "POST", "/v1/plans/binary", content=body, headers={"Content-Type": hostile.NPZ})
            statuses.append(status)
    words = ", ".join(f"{statuses.count(status)} × {status}" for status in sorted(set(statuses)))
    return Outcome(words, all(400 <= status < 500 for status in statuses))


def _broken() -> list[bytes]:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"
    good = _npy(header)
    return [
        _archive(good, zipfile.ZIP_LZMA)[:-200] + b"\xff" * 200,
        _damaged(_archive(good * 50, zipfile.ZIP_LZMA)),
        _damaged(_archive(good * 50, zipfile.ZIP_BZIP2)),
        _damaged(_archive(good * 50, zipfile.ZIP_DEFLATED)),
        _archive(_npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (0,")),
        _archive(_npy(b"{'descr': [('a', '<f8', 'x')], 'fortran_order': False, 'shape': (0,), }")),
        _archive(_npy(b"{'descr': {}, 'fortran_order': False, 'shape': (0,), }")),
        _archive(_npy(b"{[]: 1, 'descr': '<f8'}")),
    ]


def _npy(header: bytes) -> bytes:
    text = header.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + np.uint16(len(text)).tobytes() + text


def _archive(entry: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name in (*hostile.COLUMNS, "source", "target", "similarity", "transmit_cost", "parameters"):
            archive.writestr(f"{name}.npy", entry)
    return stream.getvalue()


def _damaged(archive: bytes) -> bytes:
    """Other bytes within the first compressed entry."""
    start = archive.index(b".npy") + 14
    return archive[:start] + bytes(255 - byte for byte in archive[start : start + 12]) + archive[start + 12 :]
