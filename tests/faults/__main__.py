"""Runs campaigns, shares them among processes, and prints what was tried. See the package's own words."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence

from tests.faults import machines, seeded, truth
from tests.faults.errors import errors
from tests.faults.kills import kills
from tests.faults.meddling import meddling
from tests.faults.pairs import pairs, singles
from tests.faults.power import power
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Campaign, Finding, Tried, on_scenario

CAMPAIGNS: dict[str, Campaign] = {
    "kills": kills,
    "meddling": meddling,
    "power": power,
    "errors": errors,
    "pairs": pairs,
}
OTHERS: dict[str, Campaign] = {"singles": singles}
ALONE: dict[str, Callable[[], list[str]]] = {"truth": truth.table, "machines": machines.table, "seeded": seeded.table}
"""Campaigns that print their own figures; each returns what is wrong."""
WORDS = {
    "kills": "killed before, in and after each operation",
    "errors": "each operation fails with each errno, once and from then on",
    "meddling": "a conversation goes on while it is harvested",
    "pairs": "killed, and killed again at each operation of what mends it",
    "power": "the power is cut after each operation, in a model of what a disk may keep",
    "singles": "what a kill at each operation leaves, taken down without a kill",
}
SHOWN = 20


def shared(campaign: Campaign, names: Sequence[str], stride: int, start: int, jobs: int) -> dict[str, Tried]:
    """A campaign on several scenarios, its points dealt out to `jobs` processes; what was tried by scenario."""

    def share(number: int) -> dict[str, Tried]:
        first = start + number * stride
        return {name: on_scenario(campaign, SCENARIO[name], stride * jobs, first) for name in names}

    together = {name: Tried() for name in names}
    for part in in_processes([lambda number=number: share(number) for number in range(jobs)]):  # type: ignore[misc]
        for name, tried in part.items():
            together[name] += tried
    return together


def in_processes(works: Sequence[Callable[[], dict[str, Tried]]]) -> list[dict[str, Tried]]:
    """Run each work in a process of its own, at the same time."""
    pipes, children = [], []
    for work in works:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
        children.append(child)
    answers = []
    for reading, child in zip(pipes, children, strict=True):
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        if not data:
            raise SystemExit("a process of the campaign died")
        answers.append(pickle.loads(data))
    return answers


def tell(name: str, tried: dict[str, Tried], seconds: float) -> list[Finding]:
    """Print one campaign's counts; returns what it found."""
    points = sum(row.points for row in tried.values())
    found = [finding for row in tried.values() for finding in row.findings]
    print(f"\n{name}: {WORDS[name]}")
    for scenario, row in tried.items():
        print(f"    {scenario:<22}{row.points:>8} points{len(row.findings):>6} broke something")
    rate = points / max(seconds, 0.001)
    distinct = sum(row.distinct for row in tried.values())
    print(f"  {distinct} different states among them") if distinct else None
    print(f"  {points} points in {seconds:.0f} s, {rate:.0f} a second; {len(found)} broke something")
    for finding in found[:SHOWN]:
        print(f"  {finding}", flush=True)
    sys.stdout.flush()
    return found


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Campaigns of faults.")
    parser.add_argument("campaign", nargs="*", help=f"which of {', '.join([*CAMPAIGNS, *ALONE])} (all)")
    parser.add_argument("--stride", type=int, default=1, help="try every n-th point only")
    parser.add_argument("--start", type=int, default=0, help="begin with the n-th point")
    parser.add_argument("--scenario", action="append", choices=[*SCENARIO], help="only this one (may be repeated)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time")
    options = parser.parse_args(words)
    names = options.scenario or [*SCENARIO]
    broken = 0
    began = time.monotonic()
    for name in options.campaign or [*CAMPAIGNS, *ALONE]:
        if name in ALONE:
            broken += len(ALONE[name]())
            continue
        started = time.monotonic()
        tried = shared((CAMPAIGNS | OTHERS)[name], names, options.stride, options.start, options.jobs)
        broken += len(tell(name, tried, time.monotonic() - started))
    print(f"\n{broken} violations in {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
