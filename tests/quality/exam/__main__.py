"""`python -m tests.quality.exam [--json FILE]`: what needs no reader of the exam.

`questions.jsonl` beside this file holds forty questions over real sessions (`score.Question` tells the fields). They
are asked in a home that has all sessions of the corpus, those of `SESSIONS.txt` among them, harvested by the rules and
indexed (`real_home.py`). Each question is the query as it stands: to an agent's server in the project of the session,
by the tools `search_knowledge` and `search_conversations`, and to `knowledge search QUESTION --json`, which looks
everywhere. `score.py` says when a hit is right.

A table for each of these, and for both tools together: of how many questions of a kind the first hit, and one of the
first three, comes from the right session, answers, and shows the passage; the share of the key points that the first
three show (%); the median length of the answer (characters); the share of hits from another repository (%); the median
time (seconds; of a command its whole process). Questions to which the answer was never said stand by themselves: how
many hits come all the same, how many of them are firm (not called weak), and in how many answers none is.

`python -m tests.quality.exam.grep` asks a plain search of the raw files. Nothing of the corpus is written down: the
rows of `--json` have ids and figures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.quality.exam.score import FIRST, NEVER, Question, Score, scored, together, turns_of
from tests.quality.real_home import CONVERSATIONS, RealHome, real_sessions

QUESTIONS = Path(__file__).with_name("questions.jsonl")
SESSIONS = Path(__file__).with_name("SESSIONS.txt")
TOOLS = ("search_knowledge", "search_conversations")
BOTH, COMMAND = "both tools", "knowledge search"
DOORS = (*TOOLS, BOTH, COMMAND)

Scores = dict[str, dict[str, Score]]
"""The id of a question -> how each door did."""


def questions(path: Path = QUESTIONS) -> list[Question]:
    """The questions of a file, in its order."""
    return [Question.of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def sessions(listed: Path = SESSIONS) -> list[str]:
    """All sessions of the corpus, and those that a list names, one a line."""
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    named = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    return sorted({*real_sessions(), *named})


def right_turns(home: RealHome, question: Question) -> dict[str, frozenset[int]]:
    """The session, each of its snapshots, or of an export the conversations that answer -> the turns that do: those of
    the roles that the question names, else whoever spoke."""
    same = home.same_session(question.session).items() if question.session else ()
    found = {one: turns_of(talk, question.turns) for one, talk in same}
    if not any(found.values()):
        found = {one: turns_of(talk, question.turns, any_role=True) for one, talk in same}
    return {one: turns for one, turns in found.items() if turns or "#" not in one}


def run(home: RealHome, asked: Iterable[Question]) -> Scores:
    """Ask all questions in a home that is harvested."""
    found: Scores = {}
    for question in asked:
        right = right_turns(home, question)
        folder = home.folders.get(question.about) or question.project
        answers = home.ask(folder, [(tool, {"query": question.question}) for tool in TOOLS])
        rows = {tool: scored(question, answer, right) for tool, answer in zip(TOOLS, answers, strict=True)}
        rows[BOTH] = together([rows[tool] for tool in TOOLS])
        rows[COMMAND] = scored(question, home.search(question.question), right)
        found[question.id] = rows
    return found


# --- tables -----------------------------------------------------------------------------------------------------------

HEAD = ("session 1", "of 3", "answer 1", "of 3", "passage 1", "of 3", "told %", "chars", "other %", "s")


def table(asked: Sequence[Question], found: Scores) -> list[str]:
    """A line a kind for each door, and their sum."""
    kinds = list(dict.fromkeys(question.kind for question in asked if question.kind != NEVER))
    lines = []
    for door in DOORS:
        lines += ["", f"{door:20} {'asked':>5} " + " ".join(f"{name:>9}" for name in HEAD)]
        for kind in (*kinds, ""):
            rows = [found[one.id][door] for one in asked if one.kind == kind or (not kind and one.kind != NEVER)]
            if rows:
                lines.append(line(kind or "all", rows))
    lines += ["", f"{NEVER:20} {'asked':>5} {'hits':>9} {'firm':>9} {'none firm':>9} {'chars':>9} {'other %':>9}"]
    for door in DOORS:
        rows = [found[one.id][door] for one in asked if one.kind == NEVER]
        if rows:
            means = [f"{statistics.fmean(values):.1f}" for values in ([r.hits for r in rows], [r.firm for r in rows])]
            middle = statistics.median(row.characters for row in rows)
            cells = [*means, str(sum(not row.firm for row in rows)), f"{middle:.0f}", other(rows)]
            lines.append(f"{door:20} {len(rows):5} " + " ".join(f"{cell:>9}" for cell in cells))
    return lines[1:]


def line(name: str, rows: Sequence[Score]) -> str:
    """One line of the table."""
    cells: list[str] = []
    for ranks in ([row.session for row in rows], [row.answer for row in rows], [row.passage for row in rows]):
        cells += [str(ranks.count(1)), str(sum(0 < rank <= FIRST for rank in ranks))]
    cells += [f"{100 * statistics.fmean(row.told for row in rows):.0f}"]
    cells += [f"{statistics.median(row.characters for row in rows):.0f}", other(rows)]
    cells += [f"{statistics.median(row.seconds for row in rows):.2f}"]
    return f"{name:20} {len(rows):5} " + " ".join(f"{cell:>9}" for cell in cells)


def other(rows: Sequence[Score]) -> str:
    """The share of hits from another repository, in percent."""
    hits = sum(row.hits for row in rows)
    return f"{100 * sum(row.other for row in rows) / hits:.0f}" if hits else "-"


def problems(asked: Sequence[Question], home: RealHome, found: Scores) -> list[str]:
    """What makes a figure worth less: quotes that stand in no turn, or in one of another role (what a tool puts in is
    not searched), projects that the program knows otherwise, calls that were refused."""
    lines = []
    for question in asked:
        right = {
            home.talks[one].turns[at - 1].role for one, turns in right_turns(home, question).items() for at in turns
        }
        if question.session and not right:
            lines.append(f"{question.id}: no turn of its session has one of its quotes")
        elif right.isdisjoint(turn.get("role", "") for turn in question.turns) and question.session:
            lines.append(f"{question.id}: its quotes are in turns of another role: {', '.join(sorted(right))}")
        folder = home.folders.get(question.about, "")
        if folder != question.project and not folder.startswith(str(home.folder)):
            lines.append(f"{question.id}: its project is {folder or 'none'} for the program, not {question.project}")
        refused = {score.refused for score in found[question.id].values() if score.refused}
        lines += [f"{question.id}: refused: {sentence}" for sentence in sorted(refused)]
    return lines


def rows_of(asked: Sequence[Question], found: Scores) -> list[Mapping[str, object]]:
    """Plain rows: one for each question and door."""
    return [
        {"id": one.id, "kind": one.kind, "door": door, **found[one.id][door]._asdict()}
        for one in asked
        for door in DOORS
    ]


def arguments(program: str, description: str | None) -> tuple[list[Question], Path | None]:
    """The questions that the command line names, and the file for rows. Ends the program where there is no exam."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a row for each question and way of asking")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    given = parser.parse_args()
    if not CONVERSATIONS.is_dir():
        raise SystemExit("the corpus of real conversations is not beside the project")
    if not given.questions.is_file():
        raise SystemExit("there are no questions: tests/quality/exam/questions.jsonl")
    return questions(given.questions), given.json


def write_rows(file: Path | None, rows: Iterable[Mapping[str, object]]) -> None:
    """One line of JSON a row, where a file is named."""
    if file is not None:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Print the tables."""
    asked, file = arguments("tests.quality.exam", main.__doc__)
    with tempfile.TemporaryDirectory(prefix="knowledge-exam-") as place:
        home = RealHome(Path(place))
        home.put_real(sessions())
        home.harvest()
        found = run(home, asked)
        told = problems(asked, home, found)
    sys.stdout.write("\n".join([*table(asked, found), "", *told]).rstrip() + "\n")
    write_rows(file, rows_of(asked, found))


if __name__ == "__main__":
    main()
