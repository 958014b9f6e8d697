"""A progress bar in plain text."""

import sys
from typing import TextIO

__all__ = ["ProgressBar"]

_WIDTH = 30


class ProgressBar:
    """Shows progress on one line of a terminal; elsewhere it writes a line for every tenth."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._shown = ""

    def show(self, share: float, note: str) -> None:
        """Show the share that is done, from 0 to 1, and a note."""
        done = round(_WIDTH * min(max(share, 0.0), 1.0))
        # Elsewhere than on a terminal, what changes more often than every tenth would fill a log.
        key = f"{100 * share:3.0f} % {note}" if self._is_terminal else f"{int(10 * share)} {note}"
        if key == self._shown:
            return
        self._shown = key
        text = f"{self._title} [{'#' * done}{'-' * (_WIDTH - done)}] {100 * share:3.0f} % {note}"
        self._stream.write(f"\r{text}\x1b[K" if self._is_terminal else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._is_terminal and self._shown:
            self._stream.write("\n")
            self._stream.flush()
