"""`python -m tests.quality.hard_secrets [dev | held | unseen] [corpus FILE]`: which everyday secrets a harvest masks.

`hard_secrets.jsonl` has 60 kinds in six forms each, `hard_look_alikes.jsonl` 80 texts that look like them and must
stay; both were written by somebody who had not seen the rules, before these were last changed. Each row is a
conversation, read from the records of a tool and redacted as a harvest does it. A row is masked when nothing that would
go to a model holds one of its secrets, also where a line break or a colour code lies inside.

The kinds are halved by a hash of their names: the rules were last changed with the failures of `dev` in sight, which
the word lists (`held` lists those of the other half, which should not be read). `corpus` writes every value that is
masked in the real conversations beside the project into FILE, a row of kind and value for each.

`unseen` measures the rules on a second set (40 kinds, three forms each, 40 look-alikes) that nobody who wrote them has
looked at, and prints counts alone: that figure is worth as much as the set stays unseen.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from core.conversations.render import transcript
from core.harvest.distil import redacted_conversation
from tests.corpus import CORPUS

HERE = Path(__file__).parent
TARGET = 85.0
_HIDES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\s\u200b-\u200f\u2060\ufeff\u00ad]+")
_PLACEHOLDER = re.compile(r"\[redacted: ([^\]\n]{1,40})\]")


@dataclass(frozen=True)
class Row:
    """One conversation of a set: what may not be left in it, or what must."""

    kind: str
    form: int | str
    turns: tuple[tuple[str, str], ...]
    secrets: tuple[str, ...]
    keep: tuple[str, ...]

    @property
    def half(self) -> str:
        """Of which half of the kinds it is: `dev` or `held`."""
        return ("dev", "held")[sha256(self.kind.encode()).digest()[0] % 2]

    def sent(self, *, redacted: bool = True) -> str:
        """All that a model could be shown of it."""
        found = read_conversation(
            "talk.jsonl", b"\n".join(map(_record, range(len(self.turns)), *zip(*self.turns, strict=True)))
        )
        found = redacted_conversation(found)[0] if redacted else found
        return "\n".join([transcript(found), *(turn.text for turn in found.turns)])

    def leaked(self) -> list[str]:
        """Which of its secrets a model would see."""
        sent = self.sent()
        plain = _HIDES.sub("", sent)
        return [one for one in self.secrets if one in sent or _HIDES.sub("", one) in plain]

    def damaged(self) -> list[str]:
        """Which of its look-alikes a model would not see."""
        sent = self.sent()
        return [one for one in self.keep if one not in sent]


def _record(number: int, role: str, text: str) -> bytes:
    """A turn as Claude Code keeps it."""
    kind = "assistant" if role == "assistant" else "user"
    content: Any = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}] if role == "tool" else text
    row = {
        "type": kind,
        "parentUuid": None,
        "uuid": f"u{number}",
        "sessionId": "s",
        "message": {"role": kind, "content": content},
    }
    return json.dumps(row | {"timestamp": f"2026-05-04T10:00:{number:02}.000Z"}).encode()


def rows(name: str) -> list[Row]:
    """A set: `hard_secrets` or `hard_look_alikes`."""
    found = map(json.loads, (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Row(
            one["kind"],
            one["form"],
            tuple((turn["role"], turn["text"]) for turn in one["turns"]),
            tuple(one["secrets"]),
            tuple(one.get("keep", ())),
        )
        for one in found
    ]


def masked(before: Conversation) -> Iterator[tuple[str, str]]:
    """Kind and value of everything that is masked in the turns of a conversation."""
    after, _ = redacted_conversation(before)
    for old, new in zip(before.turns, after.turns, strict=True):
        marks = list(_PLACEHOLDER.finditer(new.text))
        ends = [0, *(mark.end() for mark in marks)]
        starts = [*(mark.start() for mark in marks), len(new.text)]
        kept = [new.text[end:start] for end, start in zip(ends, starts, strict=True)]
        at = len(kept[0])
        for mark, (_, behind) in zip(marks, pairwise(kept), strict=True):
            last = mark is marks[-1]
            place = len(old.text) - len(behind) if last else old.text.find(behind, at) if behind else at
            if old.text[at:place] != mark[0]:
                yield mark[1], old.text[at:place]
            at = place + len(behind)


def corpus() -> Iterator[tuple[str, str, str]]:
    """File, kind and value of all that is masked in the real conversations; what is none is read as one text."""
    folder = CORPUS / "conversations"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found = read_conversation(path.name, path.read_bytes())
        for kind, value in masked(found):
            yield str(path.relative_to(folder)), kind, value


def main(words: list[str]) -> int:
    """Print the shares; 1 where less than `TARGET` percent is masked."""
    if words == ["unseen"]:
        found, alike = rows("unseen_secrets"), rows("unseen_look_alikes")
        print(f"masked: {sum(not row.leaked() for row in found)} of {len(found)}")
        print(f"look-alikes kept: {sum(not row.damaged() for row in alike)} of {len(alike)}")
        return 0
    hard, alike = rows("hard_secrets"), rows("hard_look_alikes")
    absent = [row for row in hard if any(one not in row.sent(redacted=False) for one in row.secrets)]
    print(f"{len(hard)} rows of {len({row.kind for row in hard})} kinds; {len(absent)} are not read as they stand")
    failed = [(row, leaks) for row in hard if (leaks := row.leaked())]
    for half in ("dev", "held"):
        all_of, lost = ([row for row in found if row.half == half] for found in (hard, [row for row, _ in failed]))
        print(
            f"{half:5}{len(all_of) - len(lost):>5} of {len(all_of)} masked, {100 - 100 * len(lost) / len(all_of):.1f}%"
        )
        by_kind = Counter(row.kind for row in lost)
        if half in words:
            for kind in sorted({row.kind for row in all_of}):
                print(f"    {kind:40}{sum(row.kind == kind for row in all_of) - by_kind[kind]:>3}")
            for row, leaks in failed:
                if row.half == half:
                    print(f"  {row.kind} {row.form}: {leaks} in {json.dumps(row.turns, ensure_ascii=False)}")
    share = 100 - 100 * len(failed) / len(hard)
    print(f"all  {len(hard) - len(failed):>5} of {len(hard)} masked, {share:.1f}%")
    harmed = [(row, lost) for row in alike if (lost := row.damaged())]
    print(f"look-alikes kept: {len(alike) - len(harmed)} of {len(alike)}")
    for row, lost_words in harmed:
        print(f"    {row.kind} {row.form}: {lost_words} in {json.dumps(row.turns, ensure_ascii=False)}")
    if "corpus" in words:
        found = list(corpus())
        Path(words[words.index("corpus") + 1]).write_text("".join(json.dumps(row) + "\n" for row in found))
        print(f"real conversations: {len(found)} values masked, {Counter(kind for _, kind, _ in found)}")
    return 0 if share >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
