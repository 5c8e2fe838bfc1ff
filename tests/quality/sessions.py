"""How much of what attentive readers kept of real coding sessions a harvest finds: `python -m tests.quality.sessions`.

The readers' items lie in `../shared/corpus/labels/kept/` (and, as offsets and words of our own, in `kept.jsonl` beside
this file); the sessions are read in place. Figures stand per repository, since rules were written on some of them (see
`WRITTEN_ON`) and are judged on the others. Sessions are harvested in the order in which they began: a remark of one may
be borne out by the next of its project.

An item counts as found when one of the harvest says the same: its words, or those of the reader's quote, agree
(`SAME`). Words are a poor judge, so a reader may overrule them in `verdicts.jsonl`: `file`, `item` (its number in the
reader's list, from 0), `found`, `why`. `--missed` prints what was not found, `--items N` random items to be judged.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from core.harvest.distil import project_of
from core.rules.checks import add_borne_out, check_steps, checks_borne_out
from core.rules.distil import distil_offline
from core.rules.session import read_session
from tests.corpus import CORPUS

SAME = 62
"""Percent of agreement between the words of two items, the order left out, from which they count as the same."""
SAME_PLACE, LEAST_QUOTE = 80, 15
"""Percent of a reader's quote (of so many characters) that has to stand in an item with its quote."""
WRITTEN_ON = ("entireio__cli", "Hoper-J__cpolar-connect", "AFI-Protocol__afi-core", "dayhaysoos__nimbus")
CODING = ("claude_code", "codex", "opencode", "specstory", "copilot_cli", "aider", "cline", "gemini_cli")
LEAST_BYTES = 5_000
OWN = Path(__file__).with_name("kept.jsonl")
"""Labels of our own: a file, and for each item our words, the byte range of its record, and where its quote stands (in
bytes and characters; -1 where JSON hides it). No text of the corpus is in them. `kept_second.jsonl` beside it holds
what a second reader kept of some of the same sessions, without having seen the first one's items."""
SECOND = Path(__file__).with_name("kept_second.jsonl")
VERDICTS = Path(__file__).with_name("verdicts.jsonl")


class Score(NamedTuple):
    """What one session gave: its repository, the harvest's items, the readers' items and which of these were found."""

    file: str
    repository: str
    items: tuple[dict[str, Any], ...]
    kept: tuple[dict[str, Any], ...]
    found: tuple[bool, ...]
    read: bool


def kept_sessions() -> dict[str, dict[str, Any]]:
    """file -> what its reader kept; the project's own labels win."""
    rows: dict[str, dict[str, Any]] = {}
    for path in (CORPUS / "labels/kept/kept.jsonl", OWN):
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                rows[row["file"]] = with_quotes(row)
    return rows


def with_quotes(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the words of its quotes, read where they stand in the corpus."""
    path = CORPUS / "conversations" / row["file"]
    if not any("quote_at" in item for item in row["items"]) or not path.is_file():
        return row
    data = path.read_bytes()
    for item in row["items"]:
        at, length = item.get("quote_at", -1), item.get("quote_length", 0)
        item["quote"] = data[at : at + 4 * length].decode("utf-8", "ignore")[:length] if at >= 0 else ""
    return row


def agreement() -> str:
    """How far two readers of one session keep the same: items of each that the other has as well, and sessions of which
    both say that there is nothing."""
    first, pairs = kept_sessions(), list[tuple[dict[str, Any], dict[str, Any]]]()
    for line in SECOND.read_text(encoding="utf-8").splitlines():
        row = with_quotes(json.loads(line))
        if row["file"] in first:
            pairs.append((first[row["file"]], row))
    ones = [(item, other["items"]) for one, other in pairs for item in one["items"]]
    others = [(item, one["items"]) for one, other in pairs for item in other["items"]]
    found, again = (sum(any(same(item, row) for row in rows) for item, rows in side) for side in (ones, others))
    nothing = sum(bool(one["items"]) == bool(other["items"]) for one, other in pairs)
    return (
        f"{len(pairs)} sessions read twice: {found} of {len(ones)} items of the first reader are the second's too, "
        f"{again} of {len(others)} the other way; {nothing} agree on whether there is anything"
    )


def coding_sessions() -> Iterator[tuple[str, Conversation]]:
    """Every real session of a coding tool in the corpus with a repository of its own and some work in it."""
    folder = CORPUS / "conversations"
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if len(parts) < 3 or parts[0] not in CODING or not path.is_file() or path.name.endswith(".metadata.json"):
            continue
        if path.stat().st_size < LEAST_BYTES or path.name in ("history.jsonl", "conversations.json"):
            continue
        yield str(path.relative_to(folder)), read_conversation(path.name, path.read_bytes())


def words_of(item: dict[str, Any]) -> str:
    """What an item says, in one line."""
    name = item.get("name", "")
    said = item.get("statement") or item.get("note") or item.get("steps") or ""
    steps = " -> ".join(said) if isinstance(said, list) else said
    return " ".join(f"{name} {steps} {item.get('detail', '')} {item.get('path', '')}".split())


def same(kept: dict[str, Any], item: dict[str, Any]) -> bool:
    """Whether an item of a harvest says what a reader kept."""
    ours, theirs = _plain(words_of(item)), _plain(kept["statement"])
    quote, ours_quote = _plain(kept.get("quote", "")), _plain(str(item.get("quote", "")))
    if fuzz.token_set_ratio(ours, theirs) >= SAME and fuzz.partial_token_sort_ratio(ours, theirs) >= SAME:
        return True
    if len(quote) > 20 and (quote in ours_quote or quote in ours or (len(ours_quote) > 30 and ours_quote in quote)):
        return True
    # The same place in other words: a heading cut off, a command shortened.
    return len(quote) >= LEAST_QUOTE and fuzz.partial_ratio(quote, f"{ours} {ours_quote}") >= SAME_PLACE


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def verdicts() -> dict[tuple[str, int], bool]:
    """(file, number of the item in the reader's list) -> whether a person who read both found it."""
    if not VERDICTS.is_file():
        return {}
    rows = (json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines())
    return {(row["file"], row["item"]): bool(row["found"]) for row in rows}


def scores() -> list[Score]:
    """One row a session, the rules' items against the readers'."""
    labels, judged = kept_sessions(), verdicts()
    waiting: dict[str, list[dict[str, Any]]] = {}
    rows = []
    for file, conversation in sorted(coding_sessions(), key=lambda row: (row[1].started, row[0])):
        arrays = distil_offline(conversation)
        project = project_of(conversation)
        if project:
            name = conversation.id or conversation.started
            session = read_session(conversation)
            steps, _ = check_steps(session)
            known = waiting.get(project, [])
            checks, waiting[project] = checks_borne_out(session.project, steps, known, name, conversation.started)
            add_borne_out(arrays, {"playbooks": checks})
        items = tuple({**item, "category": name} for name, found in arrays.items() for item in found)
        kept = tuple(labels.get(file, {}).get("items", ()))
        found = tuple(
            judged.get((file, number), any(same(row, item) for item in items)) for number, row in enumerate(kept)
        )
        rows.append(Score(file, file.split("/")[1], items, kept, found, file in labels))
    return sorted(rows)


def once(rows: list[Score]) -> list[tuple[str, dict[str, Any]]]:
    """(file, item) of these sessions; what a second session of a repository says in the same words is left out, since
    it stands once in a store, confirmed."""
    seen: set[tuple[str, str]] = set()
    found = []
    for row in rows:
        for item in row.items:
            key = row.repository, _plain(item.get("statement") or words_of(item))
            if key not in seen:
                seen.add(key)
                found.append((row.file, item))
    return found


def table(rows: list[Score]) -> list[str]:
    """A line a repository: sessions, those that give anything, items, items kept by readers and how many were found."""
    by_repository: dict[str, list[Score]] = defaultdict(list)
    for row in rows:
        by_repository[row.repository].append(row)
    lines = [f"{'repository':52} {'sessions':>8} {'give':>5} {'items':>6} {'kept':>5} {'found':>6}"]

    def line(name: str, group: list[Score]) -> str:
        kept, found = sum(len(row.kept) for row in group), sum(sum(row.found) for row in group)
        give, items = sum(bool(row.items) for row in group), sum(len(row.items) for row in group)
        return f"{name:52} {len(group):8} {give:5} {items:6} {kept:5} {found:6}"

    for name, group in sorted(by_repository.items()):
        lines.append(line(name + (" (written on)" if name in WRITTEN_ON else ""), group))
    others = [row for row in rows if row.repository not in WRITTEN_ON]
    lines.append(line("all that rules were not written on", others))
    lines.append(line("all", rows))
    return lines


def main() -> None:
    """Print the table, or items to be read by a person."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.sessions", description=main.__doc__)
    parser.add_argument("--items", type=int, default=0, help="print so many random items of sessions not written on")
    parser.add_argument("--missed", action="store_true", help="print what readers kept and the rules did not find")
    parser.add_argument("--all", action="store_true", help="print items of all sessions, those written on as well")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not (CORPUS / "conversations").is_dir():
        raise SystemExit("the corpus of real conversations is not beside the project")
    rows = scores()
    chosen = [row for row in rows if given.all or row.repository not in WRITTEN_ON]
    if given.missed:
        for row in chosen:
            for number, (kept, found) in enumerate(zip(row.kept, row.found, strict=True)):
                if not found:
                    print(f"{row.file}\t{number}\t{kept['structure']}\t{kept['statement']}")
    elif given.items:
        items = once(chosen)
        for file, item in random.Random(given.seed).sample(items, min(given.items, len(items))):
            print(f"{file}\t{item['category']}\t{words_of(item)}\t{item.get('quote', '')}")
    else:
        print("\n".join([*table(rows), agreement()]))


if __name__ == "__main__":
    main()
