"""What each rule of a harvest gives: `python -m tests.quality.rules [PATH ...] [--rule NAME] [--found FILE]`.

Harvests every conversation below the given files and folders by rules (without one: the corpus of real conversations)
and prints the lines of each rule, so that a reader can judge them one by one: right? worth keeping for later sessions?
`--found FILE` compares with what readers kept (rows of `file` and `items`, as in `labels/kept`; `file` is the end of a
path): what of it was found, by words, and what was missed. Words are a poor judge; no figure here replaces reading.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.ran import read_end
from core.conversations.read import read_conversation
from core.rules.distil import find_all
from core.rules.sentence import Found
from tests.corpus import CORPUS
from tests.quality.sessions import coding_sessions, same, words_of


def sessions(paths: Sequence[Path]) -> Iterator[tuple[str, Conversation]]:
    """The conversations of these files and of all files below these folders, by their paths."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                conversation = read_conversation(file.name, file.read_bytes())
                if conversation.turns:
                    yield str(file), conversation


def by_rule(rows: Sequence[tuple[str, list[Found]]]) -> dict[str, list[tuple[str, Found]]]:
    """The items of each rule with their files, the rule with most of them first."""
    told: dict[str, list[tuple[str, Found]]] = defaultdict(list)
    for file, items in rows:
        for item in items:
            told[item.rule].append((file, item))
    return dict(sorted(told.items(), key=lambda row: -len(row[1])))


def missed(rows: Sequence[tuple[str, list[Found]]], labels: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What readers kept, with a mark for what was found, and the share by repository."""
    shares: dict[str, list[bool]] = defaultdict(list)
    for row in labels:
        found = next((items for file, items in rows if file.endswith(row["file"])), None)
        if found is None:
            continue
        for kept in row["items"]:
            hit = any(same(kept, item.fields) for item in found)
            shares[row.get("repository") or row["file"].split("/")[-2]].append(hit)
            mark, kind = "found " if hit else "missed", kept.get("category", "")
            yield f"{mark} {row['file'][-40:]:40} [{kind}] {kept['statement']}"
    for name, hits in shares.items():
        yield f"{name}: {sum(hits)} of {len(hits)}"
    mean = sum(sum(hits) / len(hits) for hits in shares.values()) / max(1, len(shares))
    yield f"mean of {len(shares)} repositories: {mean:.0%}"


def main() -> None:
    """Print the lines of each rule."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.rules", description=main.__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--rule", help="of this rule alone")
    parser.add_argument("--found", type=Path, metavar="FILE", help="compare with what readers kept")
    parser.add_argument("--ends", action="store_true", help="print the state in which each session was left")
    given = parser.parse_args()
    if not given.paths and not (CORPUS / "conversations").is_dir():
        raise SystemExit("the corpus of real conversations is not beside the project")
    read = list(sessions(given.paths) if given.paths else coding_sessions())
    rows = [(file, list(find_all(conversation))) for file, conversation in read]
    lines: list[str] = []
    for rule, items in by_rule(rows).items():
        if given.rule in (None, rule):
            lines.append(f"== {rule}: {len(items)} lines of {len({file for file, _ in items})} sessions")
            lines += [f"  {file[-46:]:46} [{item.category}] {words_of(item.fields)}" for file, item in items]
    if given.ends:
        lines += [f"  {file[-46:]:46} {read_end(conversation.turns).text}" for file, conversation in read]
    if given.found:
        labels = [json.loads(line) for line in given.found.read_text(encoding="utf-8").splitlines()]
        lines += missed(rows, labels)
    sys.stdout.write("\n".join([*lines, f"{sum(len(items) for _, items in rows)} lines of {len(rows)} sessions\n"]))


if __name__ == "__main__":
    main()
