"""A pytest plugin for CI: a test that was skipped there did not run, and that is a failure."""

import pytest


class _SkipCounter:
    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for nodeid in self.skipped:
            terminalreporter.write_line(f"skipped, which fails here: {nodeid}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_SkipCounter(), "skip-counter")
