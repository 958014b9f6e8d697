"""`make chaos`: every fault, one after the other, as a table. The last line is one JSON object.

`--against FOLDER` tests the code of another checkout. `--before FILE` takes the column "before" from the JSON of an
earlier run. Names choose scenarios; without any all are run. The status is 1 if something that must hold does not.
"""

import json
import signal
import sys
from pathlib import Path

from benchmarks.chaos import scenarios
from benchmarks.chaos.report import row, table
from benchmarks.chaos.scenario import run_scenario
from benchmarks.chaos.site import Site
from benchmarks.machine import describe
from benchmarks.options import parser


def main() -> int:
    """Run the scenarios and print what they found."""
    command = parser(__doc__)
    command.add_argument("names", nargs="*", metavar="NAME", help=", ".join(scenarios.ALL))
    command.add_argument("--against", type=Path, default=Path(__file__).parents[2], metavar="FOLDER")
    command.add_argument("--before", type=Path, metavar="FILE")
    chosen = command.parse_args()
    unknown = set(chosen.names) - set(scenarios.ALL)
    if unknown:
        command.error(f"no such scenario: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    print(describe("fastapi", "uvicorn"))
    code = chosen.against.resolve()
    Site(code, Path()).compile()
    found = []
    for name in chosen.names or list(scenarios.ALL)[: 1 if chosen.smoke else None]:
        found.append(run_scenario(scenarios.ALL[name], code))
        print(row(found[-1]), flush=True)
    before = json.loads(chosen.before.read_text().splitlines()[-1]) if chosen.before else {}
    print(table(found, before), flush=True)
    print(json.dumps({one["name"]: one for one in found}))
    return int(any(one["holds"] is False for one in found))


if __name__ == "__main__":
    sys.exit(main())
