"""How many bytes a model is sent of the corpus's sessions, by kind of block, and whether what readers quoted is in
them: `python -m tests.quality.prompts [SAVED]`. `SAVED` is a file with the figures of an earlier state: it is written
where it is not there, and compared with where it is (for a state before this file: run it there with `PYTHONPATH`).

Sessions of 20 to 900 kB, each as one prompt: the words around it, the header, the turns; without what is known.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import core
from core.conversations.read import read_conversation
from core.conversations.render import header, rendered_turns

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
LABELS = (CORPUS / "labels/kept/kept.jsonl", *map(Path(__file__).with_name, ("kept.jsonl", "kept_second.jsonl")))
BYTES = range(20_000, 900_000)
LEAST_QUOTE = 6
IN_SIGHT = ("entireio__cli", "dayhaysoos__nimbus", "specstoryai__getspecstory", "EntityProcess__agentv")
"""Sessions of these repositories were read while what to leave out was chosen."""
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_KIND = re.compile(r"\[(?:sub-agent: )?(assistant calls|tool: result|[\w' ]+)")


def measured() -> dict[str, dict[str, Any]]:
    """file -> bytes by kind of block, and of each quote whether it is there; one whose words JSON hides is left out."""
    prompt = Path(core.__path__[0]).parent / "assets/prompts/harvest-conversation.md"
    quotes = _quotes()
    found = {}
    for path in sorted((CORPUS / "conversations").rglob("*")):
        if (
            not path.is_file()
            or path.stat().st_size not in BYTES
            or path.name.endswith((".metadata.json", "SOURCES.md"))
        ):
            continue
        conversation = read_conversation(path.name, path.read_bytes())
        texts, head = [text for text in rendered_turns(conversation) if text], header(conversation)
        kinds = Counter({"words around it": len(prompt.read_bytes()), "header": len(head.encode())})
        for text in texts:
            label = _KIND.match(text)
            kind, size = label[1] if label else "", len(text.encode("utf-8", "replace"))
            code = (
                sum(len(one[0].encode("utf-8", "replace")) for one in _FENCE.finditer(text))
                if kind == "assistant"
                else 0
            )
            kinds.update({kind: size - code} | ({"code of the assistant": code} if code else {}))
        name = str(path.relative_to(CORPUS / "conversations"))
        said, shown = (_letters("".join(rows)) for rows in ([turn.text for turn in conversation.turns], texts))
        found[name] = {"kinds": kinds, "quotes": [one in shown for one in quotes[name] if one in said]}
    return found


def _quotes() -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for file in LABELS:
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            for item in row["items"]:
                quote, at = item.get("quote", ""), item.get("quote_at", -1)
                if at >= 0:
                    data = (CORPUS / "conversations" / row["file"]).read_bytes()[at : at + 4 * item["quote_length"]]
                    quote = data.decode("utf-8", "ignore")[: item["quote_length"]]
                if len(_letters(quote)) >= LEAST_QUOTE:
                    found[row["file"]].append(_letters(quote))
    return found


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def lines(now: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The figures: bytes by kind, then bytes and quotes of all, in sight, left out, and of each repository."""
    kinds, old = (sum((Counter(row["kinds"]) for row in rows.values()), Counter[str]()) for rows in (now, before))
    for kind, size in kinds.most_common():
        yield f"{kind:30} {old[kind]:9} -> {size:9}"
    groups = defaultdict[str, list[str]](list)
    for name in now.keys() & before.keys():
        seen = "in sight" if any(one in name for one in IN_SIGHT) else "left out"
        for group in ("all", seen, "/".join(name.split("/")[:2])):
            groups[group].append(name)
    for group, names in sorted(groups.items()):
        first, last = (sum(sum(rows[name]["kinds"].values()) for name in names) for rows in (before, now))
        there = [sum(sum(rows[name]["quotes"]) for name in names) for rows in (before, now)]
        each = sum(sum(now[name]["kinds"].values()) / sum(before[name]["kinds"].values()) for name in names) / len(
            names
        )
        yield (
            f"{group}: {len(names)} sessions, {first} -> {last} bytes ({last / first:.1%}; mean of the sessions "
            f"{each:.1%}), quotes {there[0]} -> {there[1]} of {sum(len(now[name]['quotes']) for name in names)}"
        )


def main() -> None:
    """Print the figures."""
    now = measured()
    saved = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if saved is not None and not saved.exists():
        saved.write_text(json.dumps(now), encoding="utf-8")
    before = json.loads(saved.read_text(encoding="utf-8")) if saved is not None else now
    sys.stdout.write("\n".join(lines(now, before)) + "\n")


if __name__ == "__main__":
    main()
