"""Runs the mutants of the modules that write, two at a time, and prints the score of each module."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.reach import MODULES, Reach, reach_of, test_files
from tests.mutation.survivors import EXPLAINED
from tests.mutation.trial import SURVIVED, TIMED_OUT, start, warm

ROOT = Path(__file__).resolve().parents[2]
TARGET = 0.90


def chosen(names: list[str], sample: int) -> list[tuple[str, Mutant]]:
    """(module, mutant) for all mutants, or for `sample` of them at even distances."""
    rows = [
        (module, mutant)
        for module in MODULES
        if not names or module.rpartition(".")[2] in names or module in names
        for mutant in mutants_of((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    ]
    return rows if not 0 < sample < len(rows) else [rows[at * len(rows) // sample] for at in range(sample)]


def run_all(rows: list[tuple[str, Mutant]], reach: Reach, jobs: int) -> list[int]:
    """The outcome of each mutant, in the order of `rows`."""
    outcomes = [-1] * len(rows)
    running: dict[int, int] = {}
    waiting = list(enumerate(rows))[::-1]
    done = 0
    while waiting or running:
        while waiting and len(running) < jobs:
            number, (module, mutant) = waiting.pop()
            tests = reach.tests(module, mutant)
            if not tests:
                outcomes[number] = SURVIVED
                continue
            running[start(module, mutant, tests, reach.seconds(tests))] = number
        if not running:
            break
        child, status = os.wait()
        number = running.pop(child)
        outcomes[number] = os.waitstatus_to_exitcode(status)
        done += 1
        if outcomes[number] == SURVIVED:
            module, mutant = rows[number]
            print(f"unnoticed: {module} line {mutant.line}: {mutant.key}", file=sys.stderr, flush=True)
        if done % 25 == 0:
            print(f"({done}/{len(rows)})", file=sys.stderr, flush=True)
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="names of modules; none: all")
    parser.add_argument("--sample", type=int, default=0, help="only N mutants, spread evenly")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at the same time (2)")
    options = parser.parse_args()
    started = time.monotonic()
    rows = chosen(options.modules, options.sample)
    reach = reach_of([module for module in MODULES if any(module == row[0] for row in rows)])
    warm(test_files())
    outcomes = run_all(rows, reach, options.jobs)
    failed = 0
    for module in dict.fromkeys(module for module, _ in rows):
        mine = [(mutant, outcome) for (name, mutant), outcome in zip(rows, outcomes, strict=True) if name == module]
        left = [mutant for mutant, outcome in mine if outcome == SURVIVED]
        slow = sum(outcome == TIMED_OUT for _, outcome in mine)
        explained = EXPLAINED.get(module, {})
        score = 1 - len(left) / len(mine)
        print(
            f"{module:<26} {len(mine):>4} mutants, {len(mine) - len(left):>4} noticed ({slow} by hanging): {score:.1%}"
        )
        for mutant in left:
            why = explained.get(mutant.key)
            print(
                f"  {'explained' if why else 'SURVIVED '}  line {mutant.line}: {mutant.key}" + f"  ({why})" * bool(why)
            )
        failed += score < TARGET
    print(f"{len(rows)} mutants in {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
