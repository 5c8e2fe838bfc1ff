"""`python -m tests.quality.warned`: would a command that fails again have been warned about, over all of the corpus?

The sessions of each repository by their days. Each command is asked about as the hook asks before it runs, knowing the
sessions before it and what ran before it in its own, as if that were read already. A repeat is a command that failed
when it ran last and fails again: called wrongly (no such target, not found) it can be warned about, where it found a
fault in the code it cannot. A warning is wrong where the command then passes.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from core.conversations.ran import Ran, ran_in
from core.conversations.read import read_all
from core.give.commands_here import before
from core.search import conversations as stored
from core.search.conversations import Held
from tests.quality.real_home import CONVERSATIONS, real_sessions, repository_of

KINDS = ("commands", "failed", "found a fault again", "called wrongly again", "of these warned", "warned", "wrongly")


def sessions() -> dict[str, list[tuple[str, list[Ran]]]]:
    """A repository -> its sessions, the oldest first: when, and what ran."""
    found: dict[str, list[tuple[str, list[Ran]]]] = defaultdict(list)
    for path in real_sessions():
        for talk in read_all(Path(path).name, (CONVERSATIONS / path).read_bytes()):
            found[repository_of(path)].append((talk.started or "", ran_in(talk.turns, 0, str)))
    return {repository: sorted(rows, key=lambda row: row[0]) for repository, rows in found.items()}


def counted(database: stored.Database, repository: str, rows: list[tuple[str, list[Ran]]], first: int) -> Counter[str]:
    """What ran in a repository and what would have been said; its sessions are put into the index as `first` and on."""
    told: Counter[str] = Counter()
    last: dict[str, Ran] = {}
    for number, (when, ran) in enumerate(rows, first):
        for at, row in enumerate(ran):
            if not row.key:
                continue
            held = Held(number, f"/{number}", "", str(number), "claude_code", project=repository, ended=when, turns=1)
            stored.put(database, held._replace(session=str(number)), [], commands=ran[:at])
            warned = before(database, None, [repository], "the one that asks", row.key) is not None
            known = last.get(row.key)
            again = row.failed == 1 and known is not None and known.failed == 1
            wrong = known is not None and bool(known.wrong)
            told += Counter({
                "commands": 1, "failed": row.failed == 1, "found a fault again": again and not wrong,
                "called wrongly again": again and wrong, "of these warned": again and wrong and warned,
                "warned": warned, "wrongly": warned and row.failed == 0,
            })  # fmt: skip
            last |= {row.key: row} if row.failed >= 0 else {}
    return told


def main() -> None:
    """Print a row a repository, and all together."""
    if not CONVERSATIONS.is_dir():
        raise SystemExit("the corpus of real conversations is not beside the project")
    whole: Counter[str] = Counter()
    number = 1
    with tempfile.TemporaryDirectory(prefix="knowledge-warned-") as place:
        database = stored.open_or_make(Path(place))
        for repository, rows in sessions().items():
            told = counted(database, repository, rows, number)
            number += len(rows)
            whole += told
            sys.stdout.write(f"{repository[:40]:42}{', '.join(f'{told[kind]} {kind}' for kind in KINDS)}\n")
        database.close()
    sys.stdout.write(f"{f'{number - 1} sessions':42}{', '.join(f'{whole[kind]} {kind}' for kind in KINDS)}\n")


if __name__ == "__main__":
    main()
