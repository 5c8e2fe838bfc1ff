"""Runs the campaigns of histories and prints counts and rates."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Sequence


def machine(number: int) -> int:
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.stateful import run_state_machine_as_test

    from tests.histories.ground import STEPS
    from tests.histories.machine import Histories

    began = time.monotonic()
    wanted = settings(
        max_examples=number,
        stateful_step_count=20,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    broken = 0
    try:
        run_state_machine_as_test(Histories, settings=wanted)
    except Exception:  # noqa: BLE001 - what it found is the result
        broken = 1
        traceback.print_exc()
    seconds = time.monotonic() - began
    print("\nmachine: a user, editors, processes, kills and errors in any order")
    for name, times in sorted(STEPS.items()):
        if name not in ("steps", "histories"):
            print(f"    {name:<40}{times:>8}")
    rate = STEPS["histories"] / max(seconds, 0.001)
    print(f"  {STEPS['histories']} histories, {STEPS['steps']} steps in {seconds:.0f} s, {rate:.1f} histories a second")
    print(f"  {broken} broke an invariant")
    return broken


def processes(number: int) -> int:
    from tests.histories.processes import rounds

    began = time.monotonic()
    found = rounds(number)
    seconds = time.monotonic() - began
    for at, wrong in found.items():
        print(f"round {at}:", *wrong[:5], sep="\n    ")
    print("\nprocesses: two harvests and a user's edits at the same time on one home")
    print(f"  {number} rounds of 3 processes in {seconds:.0f} s, {len(found)} broke an invariant")
    return len(found)


def editors(number: int) -> int:
    import tempfile
    from pathlib import Path

    from tests.histories.editors import NAMES, can_run, session

    print("\neditors: keys typed into an editor while a harvest runs in another process")
    broken = 0
    for name in NAMES:
        if not can_run(name):
            print(f"    {name:<10}skipped: it is not installed")
            continue
        lost = 0
        for at in range(number):
            with tempfile.TemporaryDirectory(prefix="editors-") as folder:
                wrong, swallowed = session(name, Path(folder), ("facts.md", "tasks.md")[at % 2])
            lost += swallowed
            broken += bool(wrong)
            if wrong:
                print(f"    {name}:", *wrong[:5], sep="\n        ")
        print(f"    {name:<10}{number} sessions; {lost} lines swallowed by stale saves, told and put back")
    print(f"  {broken} broke an invariant")
    return broken


def everywhere(number: int) -> int:
    from tests.histories.everywhere import rounds
    from tests.histories.ground import STEPS

    began = time.monotonic()
    found = rounds(number)
    seconds = time.monotonic() - began
    for at, wrong in found.items():
        print(f"history {at}:", *wrong[:8], *wrong[8:][-1:], sep="\n    ")
    print("\neverywhere: corrections and deletions on two machines, and every place that can answer")
    for name, times in sorted(STEPS.items()):
        print(f"    {name:<40}{times:>8}")
    print(f"  {number} histories in {seconds:.0f} s, {len(found)} in which a place told something else")
    return len(found)


CAMPAIGNS = {
    "machine": (machine, 2000),
    "processes": (processes, 60),
    "editors": (editors, 6),
    "everywhere": (everywhere, 50),
}


def main(words: Sequence[str]) -> int:
    """`[NAME [N]]`: one campaign, or all of them."""
    if words and words[0] not in CAMPAIGNS:
        print(f"choose one of {', '.join(CAMPAIGNS)}", file=sys.stderr)
        return 2
    chosen = [words[0]] if words else list(CAMPAIGNS)
    numbers = [int(word) for word in words[1:2]]
    return int(sum(CAMPAIGNS[name][0](*(numbers or [CAMPAIGNS[name][1]])) for name in chosen) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
