"""The live service of tests/app."""

from tests.app.conftest import server

__all__ = ["server"]
