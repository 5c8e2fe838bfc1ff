"""`python -m tests.quality.reach [--json FILE]`: does what was told in one earlier session reach the next one?

`../shared/corpus/benchmarks/remem/tasks.json` has 16 tasks whose governing fact was told in one earlier session
(majiayu000/remem, MIT; with everything preloaded an agent solved 15 of 15 of them, without memory 2). Each task's
episodes become a session of Claude Code in the project of the tasks, a repository that is made here with the files that
the tasks name: the events as they stand, at the time that they tell, and "Noted." by the assistant, which the tasks do
not have. They lie among all sessions of the corpus, which are of other projects, and are harvested by the rules.

Then for each task: is its fact in what `knowledge context` prints for a conversation in that project (one text for all
tasks); is it in the texts of the first three hits when the task's prompt is asked there, by the tools
`search_knowledge` and `search_conversations`, and by `knowledge search` in that folder, which looks everywhere, and
with `--project`, which does not. The patterns of the tasks judge a patch and not a text (`set(`, `1000`), so a fact
counts as there when all of its needles occur, whatever their case: names, numbers and words of `reach_facts.json`,
written by reading the tasks, that no prompt and no other fact has together. Where a fact has two parts they may stand
in two hits.

`reach_nothing.txt` has prompts that are about nothing that was said. They are asked in the same ways, and by both tools
in the project with the most sessions of the corpus: how many hits come for them, how many of them are firm (not called
weak: above the noise), and for how many prompts any firm one. A hint at the prompt would have to be silent for these.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.base.project import project_root
from tests.corpus import CORPUS
from tests.quality.real_home import CONVERSATIONS, Answer, RealHome, real_sessions

TASKS = CORPUS / "benchmarks" / "remem" / "tasks.json"
FACTS = Path(__file__).with_name("reach_facts.json")
NOTHING = Path(__file__).with_name("reach_nothing.txt")
TOOLS = ("search_knowledge", "search_conversations")
SEARCH, IN_PROJECT = "knowledge search", "search --project"
DOORS = (*TOOLS, SEARCH, IN_PROJECT)
LARGEST = {tool: f"{tool[7:]}, largest" for tool in TOOLS}
"""How the tools are called where they are asked in the project with the most sessions."""
CONTEXT = "context"
FIRST = 3
"""So many hits are looked at."""
WHEN = "2025-10-09T08:00:00+00:00"
"""When the files of the project were committed: git's own clock would make another commit of every run."""


class Reached(NamedTuple):
    """A task, and whether its fact came, by each way; characters and seconds of the answers."""

    task: str
    there: dict[str, bool]
    characters: dict[str, int]
    seconds: dict[str, float]


class Silence(NamedTuple):
    """A prompt about nothing: its hits and the firm ones among them, by each way."""

    prompt: str
    hits: dict[str, int]
    firm: dict[str, int]


def has_fact(text: str, needles: Sequence[str]) -> bool:
    """Whether all needles occur in a text."""
    plain = text.casefold()
    return all(needle.casefold() in plain for needle in needles)


def facts() -> dict[str, list[str]]:
    """A task's id -> the needles of its fact."""
    loaded: dict[str, list[str]] = json.loads(FACTS.read_text(encoding="utf-8"))
    return loaded


def prompts_about_nothing() -> list[str]:
    """The prompts, one a line."""
    return [line.strip() for line in NOTHING.read_text(encoding="utf-8").splitlines() if line.strip()]


def project_of(folder: Path, files: Mapping[str, str]) -> Path:
    """The repository of the tasks, with one commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", WHEN))}  # fmt: skip
    environment = {"PATH": os.environ.get("PATH", ""), "GIT_CONFIG_GLOBAL": os.devnull, **who}
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "The files of the tasks"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env=environment)
    return folder


def session_of(task: Mapping[str, Any], folder: Path) -> bytes:
    """The episodes of a task as Claude Code records a session."""
    rows: list[dict[str, Any]] = []
    for episode in task["history_episodes"]:
        for event in episode["raw_events"]:
            said = ((event["role"], event["sanitized_content"]), ("assistant", "Noted."))
            for at, (role, words) in enumerate(said if event["role"] == "user" else said[:1]):
                content: Any = words if role == "user" else [{"type": "text", "text": words}]
                time = datetime.fromtimestamp(event["timestamp_epoch"] + at, UTC).isoformat()
                rows.append({
                    "type": role, "uuid": f"{event['event_id']}-{at}", "parentUuid": rows[-1]["uuid"] if rows else None,
                    "sessionId": task["id"], "cwd": str(folder), "timestamp": time, "isSidechain": False,
                    "message": {"role": role, "content": content},
                })  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def filled(place: Path, tasks: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> tuple[RealHome, Path]:
    """A home with the sessions of all tasks among those of the corpus, harvested, and the folder of their project."""
    home = RealHome(place)
    folder = project_of(place / "work" / "memory-demo", files)
    home.put_real(real_sessions())
    for task in tasks:
        home.put(f"claude_code/memory-demo/{task['id']}.jsonl", session_of(task, folder))
    home.harvest()
    return home, folder


def asked(home: RealHome, folder: Path, prompt: str) -> dict[str, Answer]:
    """The answers to a prompt in a project, by each way."""
    answers = home.ask(str(folder), [(tool, {"query": prompt}) for tool in TOOLS])
    found = dict(zip(TOOLS, answers, strict=True))
    found[SEARCH] = home.search(prompt, cwd=folder)
    found[IN_PROJECT] = home.search(prompt, "--project", str(folder), cwd=folder)
    return found


def reached(home: RealHome, folder: Path, tasks: Sequence[Mapping[str, Any]]) -> list[Reached]:
    """Ask for each task."""
    needles, rows = facts(), []
    context, seconds = home.command("context", cwd=folder)
    for task in tasks:
        answers = asked(home, folder, task["prompt"])
        wanted = needles[task["id"]]
        shown = {door: "\n".join(hit.text for hit in answer.hits[:FIRST]) for door, answer in answers.items()}
        there = {CONTEXT: has_fact(context, wanted)} | {door: has_fact(text, wanted) for door, text in shown.items()}
        characters = {CONTEXT: len(context)} | {door: answer.characters for door, answer in answers.items()}
        times = {CONTEXT: seconds} | {door: answer.seconds for door, answer in answers.items()}
        rows.append(Reached(task["id"], there, characters, times))
    return rows


def silences(home: RealHome, folder: Path) -> list[Silence]:
    """Ask what is about nothing."""
    rows = []
    roots = Counter(project_root(one) for one in home.folders.values() if one != str(folder))
    largest = next(root for root, _ in roots.most_common() if root)
    for prompt in prompts_about_nothing():
        answers = asked(home, folder, prompt)
        elsewhere = home.ask(largest, [(tool, {"query": prompt}) for tool in TOOLS])
        answers |= dict(zip(LARGEST.values(), elsewhere, strict=True))
        hits = {door: len(answer.hits) for door, answer in answers.items()}
        firm = {door: sum(not hit.weak for hit in answer.hits) for door, answer in answers.items()}
        rows.append(Silence(prompt, hits, firm))
    return rows


def tables(tasks: Sequence[Reached], quiet: Sequence[Silence]) -> list[str]:
    """Both tables."""
    ways = (CONTEXT, *DOORS)
    lines = [f"{'the fact is there':36}" + "".join(f"{way:>22}" for way in ways)]
    lines += [f"{row.task:36}" + "".join(f"{'yes' if row.there[way] else '-':>22}" for way in ways) for row in tasks]
    sums = [f"{sum(row.there[way] for row in tasks)} of {len(tasks)}" for way in ways]
    lines.append(f"{'all':36}" + "".join(f"{cell:>22}" for cell in sums))
    for name, values in (("characters, median", "characters"), ("seconds, median", "seconds")):
        middle = [statistics.median(getattr(row, values)[way] for row in tasks) for way in ways]
        lines.append(f"{name:36}" + "".join(f"{value:22.{0 if values == 'characters' else 2}f}" for value in middle))
    doors = (*DOORS, *LARGEST.values())
    lines += ["", f"{'firm of all hits, about nothing':52}" + "".join(f"{door:>23}" for door in doors)]
    for row in quiet:
        cells = [f"{row.firm[door]} of {row.hits[door]}" for door in doors]
        lines.append(f"{row.prompt[:51]:52}" + "".join(f"{cell:>23}" for cell in cells))
    sums = [f"{sum(row.firm[door] for row in quiet)} of {sum(row.hits[door] for row in quiet)}" for door in doors]
    lines.append(f"{'all':52}" + "".join(f"{cell:>23}" for cell in sums))
    loud = [f"{sum(bool(row.firm[door]) for row in quiet)} of {len(quiet)}" for door in doors]
    lines.append(f"{'prompts with a firm hit':52}" + "".join(f"{cell:>23}" for cell in loud))
    return lines


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.reach", description=main.__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a row for each task and each prompt")
    given = parser.parse_args()
    if not (CONVERSATIONS.is_dir() and TASKS.is_file()):
        raise SystemExit("the corpus of real conversations is not beside the project")
    loaded = json.loads(TASKS.read_text(encoding="utf-8"))
    tasks = loaded["tasks"]
    with tempfile.TemporaryDirectory(prefix="knowledge-reach-") as place:
        home, folder = filled(Path(place), tasks, loaded["repo"]["files"])
        rows, quiet = reached(home, folder, tasks), silences(home, folder)
    sys.stdout.write("\n".join(tables(rows, quiet)) + "\n")
    if given.json:
        plain = [*(row._asdict() for row in rows), *(row._asdict() for row in quiet)]
        given.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain), encoding="utf-8")


if __name__ == "__main__":
    main()
