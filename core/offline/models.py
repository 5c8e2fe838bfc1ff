"""Small linear models for the offline distiller: hashed words in, one number out. Plain Python, no library.

The weights lie in `assets/models/offline.json`; `assets/models/README.md` says what they were trained on and
`tests/bench/train_offline.py` makes them. They are read when a text without an assistant is first distilled, so an
ordinary harvest of coding sessions never opens the file.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp
from pathlib import Path

from core.offline.talk import Said, Talk

MODELS_FILE = Path(__file__).resolve().parents[2] / "assets" / "models" / "offline.json"
NAMES = ("request", "decision", "action", "unanswered")


@dataclass(frozen=True)
class Weights:
    """One model: a weight for each bucket (a power of two of them), a bias, and from which probability it is yes."""

    buckets: array[float]
    bias: float
    threshold: float


Models = Mapping[str, Weights]


def bucket(feature: str, size: int) -> int:
    """Where a feature's weight stands; `size` is a power of two."""
    return zlib.crc32(feature.encode("utf-8", "replace")) & (size - 1)


def chance(weights: Weights, features: Iterable[str]) -> float:
    """How likely the answer is yes, from 0 to 1. A feature that is given twice counts once."""
    size = len(weights.buckets)
    total = weights.bias + sum(weights.buckets[place] for place in {bucket(feature, size) for feature in features})
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@lru_cache(maxsize=1)
def shipped_models() -> Models:
    """The models of this release; empty when the file is missing or damaged: the rules then work alone."""
    try:
        return unpack(MODELS_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zlib.error):
        return {}


def unpack(text: str) -> dict[str, Weights]:
    """Models from their file. Raises ValueError, KeyError, TypeError or zlib.error for anything else."""
    models: dict[str, Weights] = {}
    for name, row in json.loads(text)["models"].items():
        steps = array("b")
        steps.frombytes(zlib.decompress(base64.b64decode(row["weights"])))
        if not steps or len(steps) & (len(steps) - 1):
            raise ValueError("the number of weights is no power of two")
        scale = float(row["scale"])
        models[name] = Weights(
            array("f", (step * scale for step in steps)), float(row["bias"]), float(row["threshold"])
        )
    return models


def pack(models: Models) -> str:
    """The text of the file: each weight is one signed byte times a scale. The same models give the same text."""
    rows = {}
    for name, model in models.items():
        scale = max((abs(value) for value in model.buckets), default=0.0) / 127 or 1.0
        steps = array("b", (round(value / scale) for value in model.buckets))
        rows[name] = {
            "scale": float(f"{scale:.6g}"),
            "bias": round(model.bias, 4),
            "threshold": model.threshold,
            "weights": base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode(),
        }
    return json.dumps({"version": 1, "models": rows}, indent=1) + "\n"


# --- what the models look at ---


_WORD = re.compile(r"[\w']+|[?!:$%]")
_DIGITS = re.compile(r"\d+")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\$link", re.IGNORECASE)
_VOTE = re.compile(r"[+-] ?[01]\d?(?!\d|%)")
_ADDRESSED = re.compile(r"@?([^\s:,]{2,40})[:,](?: |$)")
_THANKS = re.compile(
    r"(?:\S+[,:] )?(?:thanks|thank|thx|ty|ok|okay|cool|ah|oh|k|yes|yeah|yep|no|nope|great|got it)\b", re.IGNORECASE
)
MAX_WORDS = 60
NEAR = 12
FAR = 60
LEAST_BY_NAME = 3
BY_NAME = 0.1  # in a crowd people begin with the name of whom they answer; where nobody does, names tell nothing


def words_of(text: str) -> list[str]:
    """Lower-case words and the few marks that mean something; numbers are `0`, addresses `url`."""
    return _WORD.findall(_DIGITS.sub("0", _ADDRESS.sub("url", text).lower()))[:MAX_WORDS]


def is_vote(text: str) -> bool:
    """Whether a line of a meeting is a vote: `+1`, `-1`, `+0`, with or without a remark."""
    return _VOTE.match(text) is not None


def request_features(text: str) -> list[str]:
    """Words of one sentence, alone and as neighbours, and how it begins and ends."""
    words = words_of(text)
    found = [f"w {word}" for word in words]
    found += [f"b {first} {second}" for first, second in pairwise(words)]
    found += [f"t {first} {second} {third}" for first, second, third in zip(words, words[1:], words[2:], strict=False)]
    found += [f"s{count} {' '.join(words[:count])}" for count in (1, 2, 3)]
    found += [f"e{count} {' '.join(words[-count:])}" for count in (1, 2)]
    found += [f"len {min(len(words) // 4, 8)}", f"asks {'?' in words[-3:]}", f"loud {'!' in words}"]
    return [*found, f"caps {text.isupper()}", f"low {text[:1].islower()}"]


class Seen:
    """A talk with what every look at it needs, worked out once: the words of each line, votes, names."""

    def __init__(self, talk: Talk) -> None:
        self.lines: Sequence[Said] = talk.lines
        self.words = [words_of(line.text) for line in talk.lines]
        self.low = [line.text.lower() for line in talk.lines]
        self.speakers = [line.speaker.lower() for line in talk.lines]
        self.votes = [is_vote(line.text) for line in talk.lines]
        self.keys = [" ".join(words) for words in self.words]
        self.often = Counter(self.keys)
        addressed = sum(_ADDRESSED.match(line.text) is not None for line in talk.lines)
        self.by_name = addressed >= max(LEAST_BY_NAME, BY_NAME * len(talk.lines))
        self.names = set(talk.speakers) | {name.split()[0] for name in talk.speakers if name.split()}


def line_features(seen: Seen, at: int) -> list[str]:
    """One line of a meeting: its words with the names of those present made alike, the votes around it, who says it,
    and whether the same words stand in another line (a proposal that came back as a resolution)."""
    line, votes = seen.lines[at], seen.votes
    words = ["name" if word in seen.names else word for word in seen.words[at]][:40]
    found = [f"w {word}" for word in words]
    found += [f"b {first} {second}" for first, second in pairwise(words)]
    found += [f"s{count} {' '.join(words[:count])}" for count in (1, 2, 3)]
    after, before = sum(votes[at + 1 : at + 1 + NEAR]), sum(votes[max(0, at - NEAR) : at])
    found += [f"after {min(after, 4)}", f"before {min(before, 4)}", f"soon {sum(votes[at + 1 : at + 3])}"]
    found += [f"both {min(after, 2)} {min(before, 2)}", f"again {seen.often[seen.keys[at]] > 1 and len(words) > 4}"]
    found += [f"nobody {not line.speaker}", f"opens {line.opens}", f"len {min(len(words) // 5, 6)}"]
    found += [f"asks {line.text.endswith('?')}", f"dot {line.text.endswith('.')}"]
    if at:
        found += [f"p {word}" for word in seen.words[at - 1][:8]]
    if at + 1 < len(seen.lines):
        found.append(f"next nobody {not seen.lines[at + 1].speaker}")
        found += [f"n {word}" for word in seen.words[at + 1][:3]]
    return found


def question_features(seen: Seen, at: int) -> list[str]:
    """What happened after a question, not what it was about: who spoke to the asker, how soon, what the asker did."""
    lines, line, asker = seen.lines, seen.lines[at], seen.speakers[at]
    asked = set(seen.words[at])
    telling = {word for word in asked if len(word) > 4}
    addressed = _addressed(line, seen.names)
    first = target = anybody = FAR
    mentions = own = shared = 0
    again = thanked = False
    found: list[str] = []
    for gap in range(1, min(FAR, len(lines) - at)):
        there = at + gap
        text, said = lines[there].text, seen.words[there]
        if seen.speakers[there] == asker:
            own += 1
            if own == 1:
                found.append(f"own gap {min(gap // 4, 6)}")
            thanked = thanked or _THANKS.match(text) is not None
            again = again or (len(asked) > 3 and 2 * len(asked.intersection(said)) > len(asked.union(said)))
            continue
        if _names(asker, seen.low[there]):
            mentions += 1
            first = min(first, gap)
        if addressed and seen.speakers[there] == addressed:
            target = min(target, gap)
        if gap <= 6 and not _ADDRESSED.match(text):
            anybody = min(anybody, gap)
        if gap < 20 and telling:
            shared = max(shared, len(telling.intersection(said)))
    crowd = len(set(seen.speakers[at + 1 : at + 20]))
    found += [f"addressed {bool(addressed)}", f"first {_far(first)}", f"told {min(mentions, 3)}"]
    found += [f"target {_far(target) if addressed else 'none'}", f"own {min(own, 4)}", f"again {again}"]
    found += [f"thanked {thanked}", f"anybody {_far(anybody)}", f"len {min(len(seen.words[at]) // 4, 6)}"]
    found += [
        f"new {asker not in seen.speakers[max(0, at - 15) : at]}",
        f"crowd {crowd // 4}",
        f"shared {min(shared, 3)}",
    ]
    found.append(f"spoken to {any(_names(asker, low) for low in seen.low[max(0, at - 8) : at])}")
    if at + 1 < len(lines):
        found.append(f"goes on {seen.speakers[at + 1] == asker}")
    return found


def _names(name: str, low: str) -> bool:
    """Whether a name stands in a lower-case line as a word of its own."""
    at = low.find(name) if name else -1
    if at < 0:
        return False
    end = at + len(name)
    return not (low[at - 1 : at].isalnum() or low[end : end + 1].isalnum())


def _addressed(line: Said, names: Collection[str]) -> str:
    marked = _ADDRESSED.match(line.text)
    if marked and marked[1].lower() in names:
        return marked[1].lower()
    first = line.text.split()[0].lower().strip(":,@") if line.text.split() else ""
    return first if first in names and first != line.speaker.lower() else ""


def _far(gap: int) -> int:
    return sum(gap > edge for edge in (2, 5, 10, 20, 40))
