"""What a chat says about one file: a list that describes files, and where a fault was found.

Only for talks without a coding tool's events: there what was done to a file says more than what was said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation
from core.rules.prose import Row, Sentence, begun, has, looks_like_code, sentences, whole
from core.rules.sentence import Found

_EXTENSIONS = (
    "py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|lua|sh|bash|zsh|ps1|sql|toml|"
    "yaml|yml|json|jsonl|ini|cfg|conf|env|md|rst|txt|html|css|scss|xml|proto|tf|gradle|lock|ipynb|db|log|service"
)
_PATH = rf"(?:[A-Za-z]:[\\/]|~/|\.{{1,2}}/|/)?(?:[\w.@+-]{{1,80}}[\\/]){{0,20}}[\w.@+-]{{0,80}}\.(?:{_EXTENSIONS})"
_FILE_NOTE = re.compile(
    rf"(?P<tick>`?)(?P<path>{_PATH})(?::\d+(?:-\d+)?)?(?P=tick)(?: \([^()\n]{{1,60}}\))?"
    r"(?::| [-—–]| is| has) ?(?P<note>\S.*)$"
)
_AGAIN = re.compile(rf"`(?P<path>{_PATH})`[.:,]? (?P<note>\S.*)$")
_CHANGE = re.compile(r"→|\b(?:deleted|dropped|removed|renamed|updated|changed|added|replaced|merged)\b", re.IGNORECASE)
_FAULT = re.compile(
    rf"\b(?:bug|issue|problem|error|cause|culprit|fault|leak|regression)\b[^.`]{{0,60}}? (?:was|is|lives|sits|lay) in "
    rf"`?(?P<path>{_PATH})`?",
    re.IGNORECASE,
)
_FAULTS = ("bug", "issue", "problem", "error", "cause", "culprit", "fault", "leak", "regression")
_NO_NOTE = re.compile(
    r"^(?:add(?:s|ed|ing)?|updat(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|creat(?:e|es|ed|ing)|modif(?:y|ies|ied)|chang(?:e|"
    r"es|ed)|fix(?:e[sd])?|implement(?:s|ed)?|replac(?:e|es|ed)|use|run|check|see|ensure|make|mov(?:e|ed)|renam(?:e|"
    r"ed)|import|call|delet(?:e|ed)|new\b|done|ok\b|no changes|unchanged|same|this file|lines?\b|line \d|extend(?:ed)?|"
    r"refactor(?:ed)?|wir(?:e|ed)|set|put|edit(?:ed)?|introduc(?:e|ed)|includ(?:e|ed)|writ(?:e|ten)|wrote|"
    r"extract(?:ed)?|to |this is|keep|merge|expand(?:ed)?|references?|\d|drop(?:s|ped)?|for |test(?:s|ed)? for)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:might|may|could|would|should|likely|probably|if|need|needs|will|let me|i'll|please|you|your|todo|perhaps)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|holds|contains|handles|parses|reads|writes|defines|provides|uses|does|requires|"
    r"returns|runs|expects|ignores|depends|fails|breaks|keeps|owns|implements|exports|registers|never|only|must|"
    r"cannot|calls|loads|stores|maps|builds|generates|wraps|controls|needs|leaks|swallows|drops|overwrites|"
    r"misses|lacks|lists|describes|enables|sets|shows|checks|gates|\w+ates|\w+izes|\w+ifies)\b",
    re.IGNORECASE,
)


def find_file_notes(rows: list[Row]) -> Iterator[Found]:
    """Notes bound to one path, which is given as it was spoken."""
    for row in rows:
        if row.kind == "check" or "." not in row.text:
            continue
        start = row.text[:160]
        if ("/" in start or "`" in start) and row.kind == "bullet":
            yield from _described(row, whole(row))
        low = row.low
        if " in " in low and ("/" in low or "`" in low) and has(low, _FAULTS):
            for sentence in sentences(row, _FAULTS):
                fault = _FAULT.search(sentence.text)
                if fault and not _UNSURE.search(sentence.text) and not sentence.text.endswith("?"):
                    yield _note_found(fault["path"], sentence.text, sentence, 3, row)


def _described(row: Row, said: Sentence) -> Iterator[Found]:
    found = _FILE_NOTE.match(said.text) if len(said.text) <= 500 else None
    if not found:
        return
    path, note = found["path"], found["note"].strip(" -—–:")
    if "/" not in path and not found["tick"]:
        return
    again = _AGAIN.match(note)
    if again and again["path"].endswith(path):
        path, note = again["path"], again["note"]
    words = note.split()
    if not 4 <= len(words) <= 60 or _NO_NOTE.match(note) or _UNSURE.search(note) or not _VERB.search(note):
        return
    if looks_like_code(note) or _CHANGE.search(note) or note.endswith((":", "?")):
        return
    yield _note_found(path, note, said, 2, row)


def absolute_path(path: str, conversation: Conversation) -> str:
    """The one absolute path in the conversation that ends with `path`; as it was spoken when there is none or several.

    A relative path is not joined with the session's folder by guess: people name files by their last part.
    """
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        return path
    tail = "/" + path.removeprefix("./")
    seen: set[str] = set()
    for turn in conversation.turns:
        at = turn.text.find(tail)
        while at >= 0 and len(seen) < 2:
            start = at
            while (
                start > 0 and at - start < 400 and (turn.text[start - 1].isalnum() or turn.text[start - 1] in "/._-@+")
            ):
                start -= 1
            end = at + len(tail)
            if (
                turn.text[start] == "/"
                and turn.text[start : start + 2] != "//"
                and not turn.text[end : end + 1].isalnum()
            ):
                seen.add(turn.text[start:end])
            at = turn.text.find(tail, end)
    return seen.pop() if len(seen) == 1 else path


def _note_found(path: str, note: str, said: Sentence, score: int, row: Row) -> Found:
    note = begun(note)
    return Found("files", {"path": path, "note": note, "quote": said.quote}, score + (row.role == "user"), row.turn)
