"""Failures that callers read name files without their folders."""

import pytest

from app.worker.redaction import without_paths


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[Errno 28] No space left on device: '/srv/fedsift/x y/given.npz'",
            "[Errno 28] No space left on device: 'given.npz'",
        ),
        ("/var/lib/data/mnist/train.gz: is damaged", "train.gz: is damaged"),
        ("cannot read (/data/a/b.npz), nor /tmp/c/", "cannot read (b.npz), nor c"),
        ('File "/opt/fedsift/lib/x.py", line 3', 'File "x.py", line 3'),
        ("a share of 3/4, or 3 / 4, of n/a", "a share of 3/4, or 3 / 4, of n/a"),
        (
            "a worker fetches nothing from https://host/path/file",
            "a worker fetches nothing from https://host/path/file",
        ),
        ("generator.n_devices: must be an integer", "generator.n_devices: must be an integer"),
    ],
)
def test_folders_are_left_out(text: str, told: str) -> None:
    assert without_paths(text) == told
