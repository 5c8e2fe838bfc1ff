"""Questions with known answers, from public sets that lie beside the project; see SOURCES.md there for each format.

Every set becomes the same thing: collections (a conversation, a meeting, a scene, a repository) of entries in threads,
and questions with the keys of the entries that answer them. `coding` are real sessions of coding tools, of a dozen
kinds and in several languages, with questions of our own (tests/quality/asked.jsonl): written by somebody who read the
sessions, before any ranking of them was seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from core.base.search_entry import SearchEntry
from core.conversations.conversation import Turn
from core.conversations.read import read_all
from core.search.when import moments_of

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FOLDER = CORPUS / "retrieval"
SESSIONS = CORPUS / "conversations"
ASKED = Path(__file__).resolve().parents[1] / "quality" / "asked.jsonl"
LINES, TOOL_CHARACTERS = 4, 2000
"""Of what a tool gave back so many of its first and of its last lines are searched, and not more characters."""


class Asked(NamedTuple):
    """One question and the keys of the entries that answer it; `own` is the entry that is the question itself."""

    text: str
    answers: frozenset[str]
    own: str = ""


class Collection(NamedTuple):
    """Entries that belong together, and the questions about them."""

    name: str
    entries: list[SearchEntry]
    asked: list[Asked]


def _turn(name: str, thread: str, at: int, key: str, speaker: str, text: str, date: str = "") -> SearchEntry:
    return SearchEntry(
        "document", f"{name}/{key}", speaker, text, date, project=name, thread=f"{name}/{thread}", position=at
    )


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _sessions(talk: dict[str, Any]) -> list[int]:
    return sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)))


def _asked(name: str, entries: list[SearchEntry], rows: list[dict[str, Any]]) -> list[Asked]:
    """Questions whose evidence is a list of `D1:3`; damaged ids are read as far as they go, unknown ones left out."""
    keys = {entry.key for entry in entries}
    asked = []
    for row in rows:
        ids = [f"{name}/{found}" for text in row["evidence"] for found in re.findall(r"D\d+:\d+", str(text))]
        answers = frozenset(key for key in ids if key in keys)
        if answers:
            asked.append(Asked(str(row["question"]), answers))
    return asked


def _day(text: str) -> str:
    """`1:56 pm on 8 May, 2023` or `29.12.2023, 17:45:00` as a date; "" for what has none."""
    for moment in moments_of(text):
        if moment.day and moment.year:
            return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    found = re.match(r"(\d\d)\.(\d\d)\.(\d{4})", text)
    return f"{found[3]}-{found[2]}-{found[1]}" if found else ""


def locomo() -> Iterator[Collection]:
    """LoCoMo: one collection a conversation, one thread a session, one entry a turn (with the caption of its image)."""
    for path in sorted((FOLDER / "locomo").rglob("*.json")):
        data = _json(path)
        name, talk = str(data.get("sample_id", path.stem)), data["conversation"]
        entries = []
        for number in _sessions(talk):
            day = _day(str(talk.get(f"session_{number}_date_time", "")))
            for at, turn in enumerate(talk[f"session_{number}"]):
                caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                text = f"{turn['text']}{caption}"
                entries.append(_turn(name, str(number), at, turn["dia_id"], turn["speaker"], text, day))
        yield Collection(name, entries, _asked(name, entries, data["qa"]))


def realtalk() -> Iterator[Collection]:
    """REALTALK: chats of 21 days, each session a thread."""
    for path in sorted((FOLDER / "realtalk").rglob("*.json")):
        data = _json(path)
        entries = []
        for number in _sessions(data):
            for at, turn in enumerate(data[f"session_{number}"]):
                key = str(turn.get("dia_id") or f"D{number}:{at + 1}")
                text = str(turn.get("clean_text") or turn.get("text") or "")
                speaker, day = str(turn.get("speaker", "")), _day(str(turn.get("date_time", "")))
                entries.append(_turn(path.stem, str(number), at, key, speaker, text, day))
        yield Collection(path.stem, entries, _asked(path.stem, entries, data.get("qa", [])))


def qmsum() -> Iterator[Collection]:
    """QMSum: one meeting a line; the answer of a query is every turn of its spans."""
    for path in sorted((FOLDER / "qmsum").rglob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")):
            if not line.strip():
                continue
            meeting, name = json.loads(line), f"meeting-{number}"
            turns = meeting["meeting_transcripts"]
            entries = [_turn(name, "0", at, str(at), turn["speaker"], turn["content"]) for at, turn in enumerate(turns)]
            asked = []
            for row in meeting["specific_query_list"]:
                spans = [(int(first), int(last)) for first, last in row["relevant_text_span"]]
                answers = frozenset(
                    f"{name}/{at}" for first, last in spans for at in range(first, last + 1) if at < len(turns)
                )
                if answers:
                    asked.append(Asked(row["query"], answers))
            yield Collection(name, entries, asked)


def friendsqa() -> Iterator[Collection]:
    """FriendsQA: one scene a collection; the answer is any utterance that an annotator marked."""
    for path in sorted((FOLDER / "friendsqa").rglob("*.json")):
        for number, scene in enumerate(_json(path)["data"]):
            for part, paragraph in enumerate(scene["paragraphs"]):
                name = f"scene-{number}-{part}"
                entries = [
                    _turn(name, "0", at, str(turn["uid"]), ", ".join(turn["speakers"]), turn["utterance"])
                    for at, turn in enumerate(paragraph["utterances:"])
                ]
                keys = {entry.key for entry in entries}
                asked = []
                for row in paragraph["qas"]:
                    answers = frozenset(f"{name}/{one['utterance_id']}" for one in row["answers"]) & keys
                    if answers:
                        asked.append(Asked(row["question"], answers))
                yield Collection(name, entries, asked)


def molweni() -> Iterator[Collection]:
    """Molweni: one dialogue of Ubuntu chat a collection; a question is asked in the words of its own turn, and what
    answers it is the turn that the annotators linked. The question itself is no answer."""
    for path in sorted((FOLDER / "molweni").rglob("*.json")):
        for number, dialogue in enumerate(_json(path)):
            name = f"chat-{number}"
            turns = dialogue["edus"]
            entries = [_turn(name, "0", at, str(at), turn["speaker"], turn["text"]) for at, turn in enumerate(turns)]
            answers: dict[int, set[str]] = {}
            for link in dialogue["relations"]:
                if link["type"] == "Question_answer_pair" or link["type"] == "QAP":
                    answers.setdefault(link["x"], set()).add(f"{name}/{link['y']}")
            asked = [Asked(turns[x]["text"], frozenset(keys), f"{name}/{x}") for x, keys in sorted(answers.items())]
            yield Collection(name, entries, asked)


def renamed() -> Iterator[Collection]:
    """LoCoMo, asked about people by names that they do not bear in it: what works only where the names in a question
    are those of speakers must not cost where they are not."""
    others = ("Emi", "Fahim", "Vanessa", "Akib", "Nicolas")
    for one in locomo():
        names = dict(zip(sorted({entry.title for entry in one.entries}), others, strict=False))
        known = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
        asked = [row._replace(text=known.sub(lambda found: names[found[1]], row.text)) for row in one.asked]  # noqa: B023
        yield one._replace(asked=asked)


def coding() -> Iterator[Collection]:
    """Real sessions of coding tools: one collection a repository, one thread a session, one entry a turn."""
    files = [path for path in sorted(SESSIONS.rglob("*")) if path.is_file() and not _is_aside(path)]
    entries: dict[str, list[SearchEntry]] = {}
    keys: dict[tuple[str, str, int], str] = {}
    for path in files:
        file = path.relative_to(SESSIONS).as_posix()
        repository = file.split("/")[1]
        for talk in read_all(path.stem, path.read_bytes()):
            for number, turn in enumerate(talk.turns):
                text = _searched(turn)
                if not text:
                    continue
                key, day = f"{file}#{talk.id}:{number}", (turn.time or talk.started)[:10]
                keys[file, talk.id, number] = key
                keys.setdefault((file, "", number), key)
                entries.setdefault(repository, []).append(
                    SearchEntry("document", key, "", text, day, project=repository, thread=f"{file}#{talk.id}",
                                position=number, role=turn.role)
                )  # fmt: skip
    asked: dict[str, list[Asked]] = {}
    for line in ASKED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        places = [(one["file"], one.get("conversation", ""), turn) for one in row["answers"] for turn in one["turns"]]
        answers = frozenset(keys[place] for place in places if place in keys)
        asked.setdefault(places[0][0].split("/")[1], []).append(Asked(row["asked"], answers))
    for repository, rows in entries.items():
        yield Collection(repository, rows, asked.get(repository, []))


def _is_aside(path: Path) -> bool:
    """Lists of prompts repeat their sessions; fixtures are nobody's talk."""
    beside = path.name in ("SOURCES.md", "history.jsonl") or path.name.endswith(".metadata.json")
    return beside or "format_fixtures" in path.parts


def _searched(turn: Turn) -> str:
    """What of a turn is searched: what was said, the commands and paths of calls, a tool's first and last lines."""
    if turn.role != "tool":
        return turn.text if turn.role in ("user", "assistant") else ""
    called = [getattr(event, name, "") for event in turn.events for name in ("words", "path")]
    lines = [line for line in turn.text.splitlines() if line.strip()]
    lines = lines[:LINES] + lines[max(LINES, len(lines) - LINES) :]
    return ("\n".join(filter(None, called)) if turn.is_call and any(called) else "\n".join(lines))[:TOOL_CHARACTERS]


def is_there(name: str) -> bool:
    """Whether the files of a set lie beside the project."""
    return SESSIONS.is_dir() if name == "coding" else (FOLDER / name).is_dir()


SETS: dict[str, Callable[[], Iterator[Collection]]] = {
    "locomo": locomo,
    "realtalk": realtalk,
    "qmsum": qmsum,
    "friendsqa": friendsqa,
    "molweni": molweni,
    "coding": coding,
}
POOLED = ("coding",)
"""Sets that are asked as a whole alone: nobody knows in which repository it was."""
