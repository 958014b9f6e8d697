"""What is assumed, what is told of it, and label counts beside a file."""

import pytest

from app.imports.assembly import Defaults, make_fleet
from app.imports.draft import Draft, Row, Source
from app.imports.findings import Assumption, Finding
from app.imports.tables import read_label_counts
from solver.errors import InvalidInputError

DRAFT = Draft(
    "hand-made",
    [Row("one", {"id": "a", "datapoints": 50}), Row("two", {"id": "b"})],
    [Row("three", {"from": "a", "to": "b", "mbps": 3})],
    directed=True,
)


def test_the_report_counts_what_was_given_and_assumed() -> None:
    report = make_fleet(DRAFT, Defaults(datapoints=80, similarity=0.5)).report
    assert (report.devices, report.links) == (2, 1)
    assert list(report.found) == [Finding("datapoints", 1), Finding("mbps", 1)]
    assert Assumption("datapoints", "80", 1) in report.assumed
    assert Assumption("similarity", "0.5", 1) in report.assumed
    assert report.notes[-1] == ("left to the service: load (2), storage_datapoints (2), airtime_seconds (2), loss (1)")
    assert report.lines()[:2] == ["hand-made: 2 devices, 1 link", "  from the file: datapoints (1), mbps (1)"]
    assert "  assumed samples_per_second = 40 (2)" in report.lines()


def test_links_can_be_made_symmetric() -> None:
    one_way = make_fleet(DRAFT, Defaults())
    assert len(one_way.fleet["links"]) == 1
    both = make_fleet(DRAFT, Defaults(), symmetric=True)
    assert [(link["from"], link["to"], link["mbps"]) for link in both.fleet["links"]] == [("a", "b", 3), ("b", "a", 3)]


def test_label_counts_give_datapoints_that_the_file_lacks() -> None:
    rows = read_label_counts(Source("labels.csv", b"id,class,count\nb,car,30\nb,bus,12\na,car,50\n"))
    made = make_fleet(DRAFT, Defaults(), label_counts=rows)
    assert made.fleet["devices"][1]["label_counts"] == {"car": 30, "bus": 12}
    assert [device["datapoints"] for device in made.fleet["devices"]] == [50, 42]
    assert Assumption("datapoints", "the sum of label_counts", 1) in made.report.assumed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"id,class,count\nz,car,1\n", "labels.csv, line 2: there is no device 'z'"),
        (b"id,class,count\na,car,1\na,car,2\n", "labels.csv, line 3: class 'car' of 'a' appears twice"),
        (b"id,class,count\na,car,-1\n", "labels.csv, line 2: count '-1' must be from 0 to 1e+12"),
        (b"id,count\na,1\n", "labels.csv, line 1: lacks the column class"),
    ],
)
def test_wrong_label_counts_are_refused_with_their_line(text: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        make_fleet(DRAFT, Defaults(), label_counts=read_label_counts(Source("labels.csv", text)))
    assert str(refused.value) == message


def test_a_default_must_be_what_its_field_takes() -> None:
    with pytest.raises(InvalidInputError, match=r"^the defaults: mbps 0 must be from 0.001 to 1e\+06$"):
        Defaults(mbps=0)
