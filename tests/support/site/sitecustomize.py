"""Python loads this first in what tests start: training that gives way to busy neighbours would keep a test waiting."""

import os

os.nice = lambda _: 0
