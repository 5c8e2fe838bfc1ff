"""Which tests reach which line, and how long each takes: one run of the tests under coverage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "core.knowledge.ledger",
    "core.harvest.freeze",
    "core.harvest.named_paths",
    "core.harvest.reclaim",
    "core.knowledge.journal",
    "core.base.files",
    "core.base.disk",
)
"""The modules that write, with what `base/files.py` and `harvest/freeze.py` were split into."""
ROOMS = ("harvest", "knowledge", "base_files", "commands", "bad_input")
ELSEWHERE = ("test_rules", "test_commands_sources", "test_commands_settings", "test_commands_view")
"""Long tests that write nothing."""
UNTIMED = "not faster and not longer_than"
"""Tests that compare times are left out: under coverage they measure something else."""
SLOW_SECONDS = 2.5
"""A test that takes longer on its own is left out, unless nothing else reaches the line."""
BUDGET_SECONDS = 12.0
"""Of tests for a mutant. Those of the module's own files come first, and a full file has many quick ones."""


def test_files() -> list[str]:
    """The test files of the rooms that read and write."""
    found = [path for room in ROOMS for path in sorted((ROOT / "tests").glob(f"test_{room}*.py"))]
    return [str(path.relative_to(ROOT)) for path in dict.fromkeys(found) if not path.name.startswith(ELSEWHERE)]


@dataclass
class Reach:
    """`lines`: module -> line -> tests (node ids without parameters); `took`: test -> seconds, all parameters."""

    lines: dict[str, dict[int, list[str]]]
    took: dict[str, float]

    def tests(self, module: str, mutant: Mutant) -> list[str]:
        """The tests for a mutant, quickest first, as many as a budget of time allows."""
        lines = self.lines.get(module, {})
        if mutant.inside:
            wanted = {test for at in range(mutant.line, mutant.end + 1) for test in lines.get(at, ())}
        else:  # a module's own lines run once, at the import
            wanted = {test for tests in lines.values() for test in tests}
        own = module.rpartition(".")[2]
        ranked = sorted(wanted, key=lambda test: (own not in test.split("::")[0], self.took.get(test, 1.0)))
        chosen: list[str] = []
        total = 0.0
        for test in ranked:
            seconds = self.took.get(test, 1.0)
            if chosen and (seconds > SLOW_SECONDS or total + seconds > BUDGET_SECONDS):
                continue
            chosen.append(test)
            total += seconds
        return chosen

    def seconds(self, tests: list[str]) -> float:
        return sum(self.took.get(test, 1.0) for test in tests)


def reach_of(modules: list[str]) -> Reach:
    """Run the tests once. One that fails without any mutant, under load say, tells nothing and is left out. Raises
    RuntimeError when they cannot be run at all."""
    with tempfile.TemporaryDirectory(prefix="reach-") as folder:
        told = Path(folder) / "reach.json"
        settings = Path(folder) / "coveragerc"
        include = ",".join(f"{ROOT}/{module.replace('.', '/')}.py" for module in modules)
        settings.write_text(f"[run]\ndynamic_context = test_function\ninclude = {include}\n")
        environment = {**os.environ, "REACH": str(told), "COVERAGE_FILE": f"{folder}/data", "PYTHONPATH": str(ROOT)}
        command = [
            sys.executable, "-m", "coverage", "run", f"--rcfile={settings}",
            "-m", "pytest", "-q", "-p", "tests.mutation.timing", "-p", "no:cacheprovider",
            f"--basetemp={folder}/tests", "-k", UNTIMED, *test_files(),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"the tests cannot be run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        found = json.loads(told.read_text())
        if found["failed"]:
            print(f"left out, they fail as it is: {', '.join(found['failed'])}", file=sys.stderr)
        return Reach(_lines(modules, Path(folder) / "data", set(found["failed"])), found["took"])


def _lines(modules: list[str], data_file: Path, without: set[str]) -> dict[str, dict[int, list[str]]]:
    from coverage import CoverageData

    data = CoverageData(str(data_file))
    data.read()
    found = {}
    for module in modules:
        file = f"{ROOT}/{module.replace('.', '/')}.py"
        contexts = data.contexts_by_lineno(file)
        found[module] = {
            line: sorted({node_id(name) for name in names if name} - without) for line, names in contexts.items()
        }
    return found


def node_id(context: str) -> str:
    """`tests.test_x.test_y` as pytest names it."""
    module, _, function = context.rpartition(".")
    return f"{module.replace('.', '/')}.py::{function}"
