"""Drives the Python lock libraries, as their users would, against servers that are
named on the command line. ../README.md says what it prints and what each case asks.
"""

import faulthandler
import logging
import sys
from importlib.metadata import version

from cases import CASES, Cases
from libraries import LIBRARIES
from probe import Probe

PROGRAM_LIMIT = 150  # seconds; then it ends and tells where each thread was


def versions(packages):
    library, *driver = packages
    return " on ".join([version(library)] + [f"{d} {version(d)}" for d in driver])


def outcome(cases, case, none):
    """How a case ended: "ok", "none" or "FAIL ..."."""
    if case in none:
        return "none"
    try:
        getattr(cases, case)()
        return "ok"
    except Exception as err:
        return f"FAIL {type(err).__name__}: {err}".replace("\n", " ")


def main(args):
    if len(args) != 3 or args[0] not in LIBRARIES:
        print("usage: main.py LIBRARY ADDRESS[,ADDRESS...] PREFIX", file=sys.stderr)
        return 2
    faulthandler.dump_traceback_later(PROGRAM_LIMIT, exit=True)
    # What a library logs about a refusal or a dead master is no news.
    logging.disable(logging.CRITICAL)
    library, addresses, prefix = LIBRARIES[args[0]], args[1].split(","), args[2]
    print("version", versions(library.packages))
    cases = Cases(library, addresses, Probe(addresses), prefix)
    failed = 0
    for case in CASES:
        result = outcome(cases, case, library.none)
        print(case, result, flush=True)
        if result.startswith("FAIL"):
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
