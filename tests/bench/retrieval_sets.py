"""Questions with known answers, from public sets that lie beside the project; see SOURCES.md there for each format.

Every set becomes the same thing: collections (a conversation, a meeting, a scene, a repository) of entries in threads,
and questions with the keys of the entries that answer them. `coding` are real sessions of coding tools, of a dozen
kinds and in several languages, with questions of our own (tests/quality/asked.jsonl): written by somebody who read the
sessions, before any ranking of them was seen.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from core.base.entry import Entry
from core.base.paths import Paths
from core.conversation_index import Where, look
from core.conversations.read import read_conversation
from core.search.conversations import HEADING, texts
from core.search.when import moments_of
from core.sources.tools import FILES, Place

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FOLDER = CORPUS / "retrieval"
SESSIONS = CORPUS / "conversations"
QUALITY = Path(__file__).resolve().parents[1] / "quality"
ASKED, KEPT = QUALITY / "asked.jsonl", (QUALITY / "kept.jsonl", QUALITY / "kept_second.jsonl")


class Asked(NamedTuple):
    """One question and the keys of the entries that answer it; `own` is the entry that is the question itself."""

    text: str
    answers: frozenset[str]
    own: str = ""


class Collection(NamedTuple):
    """Entries that belong together, and the questions about them."""

    name: str
    entries: list[Entry]
    asked: list[Asked]


def _turn(name: str, thread: str, at: int, key: str, speaker: str, text: str, date: str = "") -> Entry:
    return Entry("document", f"{name}/{key}", speaker, text, date, project=name, thread=f"{name}/{thread}", position=at)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _sessions(talk: dict[str, Any]) -> list[int]:
    return sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)))


def _asked(name: str, entries: list[Entry], rows: list[dict[str, Any]]) -> list[Asked]:
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
    """`1:56 pm on 8 May, 2023` as a date; "" for what has none."""
    found = (f"{one.year:04}-{one.month:02}-{one.day:02}" for one in moments_of(text) if one.day and one.year)
    return next(found, "")


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


class Session(NamedTuple):
    """A session of the corpus as the index holds it: its file there, the id of the conversation in it, its turns."""

    file: str
    own: str
    turns: tuple[Entry, ...]


@cache
def sessions() -> tuple[Session, ...]:
    """Real sessions of coding tools, as a user's index would hold them: found, read, cleared and shortened by the
    product."""
    found = []
    with tempfile.TemporaryDirectory(prefix="knowledge-sessions-") as place:
        folder = Path(place)
        where = Where(Paths(folder), folder / "index", folder / "copies", False, (), (Place(FILES, str(SESSIONS)),))
        database, brought = look(where, float("inf"), walk=True)
        assert database is not None and not brought.waiting
        sql = "SELECT id, path, session FROM conversations WHERE turns > 0 ORDER BY path"
        for id, path, own in database.execute(sql).fetchall():
            file = Path(path.partition("#")[0]).relative_to(SESSIONS).as_posix()
            if _is_aside(Path(file)):
                continue
            project, thread = file.split("/")[1], f"{file}#{own}"
            turns = texts(database, id, HEADING, 1 << 40)
            rows = [
                Entry("conversation", f"{thread}:{one.position}", one.speaker, one.text, one.date,
                            project=project, thread=thread, position=one.position, role=one.role)
                for one in turns
            ]  # fmt: skip
            found.append(Session(file, own, tuple(rows)))
        database.close()
    return tuple(found)


def coding() -> Iterator[Collection]:
    """Questions about real sessions of coding tools: one collection a repository, one thread a session."""
    keys = _keys()
    asked: dict[str, list[Asked]] = {}
    for line in ASKED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        places = [(one["file"], one.get("conversation", ""), turn) for one in row["answers"] for turn in one["turns"]]
        answers = frozenset(keys[place] for place in places if place in keys)
        asked.setdefault(places[0][0].split("/")[1], []).append(Asked(row["asked"], answers))
    yield from _by_repository(asked)


def _keys() -> dict[tuple[str, str, int], str]:
    """The keys of turns by file, conversation ("" where a file has one) and number."""
    keys: dict[tuple[str, str, int], str] = {}
    for session in sessions():
        for turn in session.turns:
            keys[session.file, session.own, turn.position] = turn.key
            keys.setdefault((session.file, "", turn.position), turn.key)
    return keys


def _by_repository(asked: Mapping[str, list[Asked]]) -> Iterator[Collection]:
    entries: dict[str, list[Entry]] = {}
    for session in sessions():
        entries.setdefault(session.file.split("/")[1], []).extend(session.turns)
    for repository, rows in entries.items():
        yield Collection(repository, rows, asked.get(repository, []))


def kept() -> Iterator[Collection]:
    """What readers of the same sessions wrote down as worth keeping, in their own words, asked for in those: the turns
    that say it answer. Other readers and other words than those of `coding`, and not all turns that answer are people's
    or an assistant's."""
    keys = _keys()
    asked: dict[str, list[Asked]] = {}
    for path in KEPT:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            file = SESSIONS / row["file"]
            turns = read_conversation(file.name, file.read_bytes()).turns if file.is_file() else ()
            for item in row["items"]:
                near = [at for at, turn in enumerate(turns) if turn.start < item["end"] and item["start"] < turn.end]
                answers = frozenset(keys[row["file"], "", at] for at in near if (row["file"], "", at) in keys)
                if answers:
                    asked.setdefault(row["file"].split("/")[1], []).append(Asked(item["statement"], answers))
    yield from _by_repository(asked)


def _is_aside(path: Path) -> bool:
    """Lists of prompts repeat their sessions; fixtures are nobody's talk."""
    beside = path.name in ("SOURCES.md", "history.jsonl") or path.name.endswith(".metadata.json")
    return beside or "format_fixtures" in path.parts


def is_there(name: str) -> bool:
    """Whether the files of a set lie beside the project."""
    return SESSIONS.is_dir() if name in POOLED else (FOLDER / name).is_dir()


SETS: dict[str, Callable[[], Iterator[Collection]]] = {
    "locomo": locomo,
    "qmsum": qmsum,
    "friendsqa": friendsqa,
    "molweni": molweni,
    "coding": coding,
    "kept": kept,
}
POOLED = ("coding", "kept")
"""Sets that are asked as a whole alone: nobody knows in which repository it was."""
