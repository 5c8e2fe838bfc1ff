"""How a model is asked: everything in one call, or one category a call; and which version of a prompt was used.

`one_call` puts the question first and the conversation below it, and gets seven arrays. `per_category` is for small
models: the conversation comes first and stays the same, so that a server keeps it in its cache, and each of the seven
questions that follow is short.

Long conversations, part by part: a part ends between turns, and quotes stay exact.

`long_conversations = "parts"` asks about each part that fits the model's window, with the header above it. With
`"summarise"` the conversation is first shortened by `summarize.md`: `summarize_threshold_bytes`
says what is long and how long the summary may be, `part_bytes` how large a part is. Every call goes through the
run's meter, so its tokens count.

What a model has answered about a conversation, until its harvest is proven: nobody pays for it twice.

A conversation is harvested whole or not at all, so one question without an answer fails it (`per_category`), a long one
needs many calls before the first question, and a run can be ended at any moment. Each answer lies in the
cache folder from the moment it came, one small file a conversation. Deleting it costs money only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.base import files
from core.base.answer import Answer, Generate
from core.base.markdown import sanitise_name
from core.base.result import KnowledgeError, Ok, attempt
from core.base.secrets.redact import redact
from core.conversations.conversation import Conversation
from core.conversations.render import header, rendered_turns, with_results
from core.harvest.answer import FIELD_CHARACTERS, FULL, MAX_STEPS, OFFERED, SCHEMA, UNASKED, parse_answer
from core.harvest.meter import RETRY_SUFFIX
from core.harvest.steps import DistilSettings
from core.knowledge.spending import WORST_BYTES_A_TOKEN

KEPT_DAYS = 30
MAX_BYTES = 4 << 20


class KeptAnswers:
    """Asks the model about one conversation, except what it has answered already. A `Generate` itself.

    `folder` is that of the kept answers, `sha256` that of the conversation; `asked` names provider and model, for the
    words of another one are not wanted. An answer that cannot be read, that was cut off, or that has a secret in it, is
    asked for again. With `keep` False what is known is used, and nothing is written.
    """

    def __init__(self, generate: Generate, folder: Path, sha256: str, asked: str, *, keep: bool = True) -> None:
        self._generate = generate
        self._keep = keep
        self._file = folder / f"{sha256}.json"
        self._asked = asked
        answers = files.read_object(self._file) or {}
        self._known = {key: text for key, text in answers.items() if isinstance(text, str)}
        self._used: dict[str, str] = {}

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        words = json.dumps([self._asked, prompt, schema], sort_keys=True)
        key = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
        known = self._known.get(key)
        if known is not None and _is_good(known, schema):
            self._used[key] = known
            return Answer(known)
        answer = self._generate(prompt, schema)
        if not answer.truncated and _is_good(answer.text, schema):
            self._used[key] = answer.text
            self._write()
        return answer

    def drop(self) -> None:
        """The harvest is proven: nothing of the answers is needed any more."""
        if self._known or self._used:
            with contextlib.suppress(OSError):
                files.discard(self._file)

    def _write(self) -> None:
        """At once, for a second Ctrl-C or a power cut leaves no time later."""
        rows = {key: text for key, text in (self._known | self._used).items() if not redact(text).counts}
        data = json.dumps(rows).encode()
        if self._keep and rows and len(data) <= MAX_BYTES:
            files.write_cache(self._file, data)
            if len(self._used) == 1:
                _drop_old(self._file.parent)


def _is_good(text: str, schema: Mapping[str, Any] | None) -> bool:
    return bool(text.strip()) if schema is None else isinstance(attempt(parse_answer, text, schema["required"]), Ok)


def _drop_old(folder: Path) -> None:
    """Conversations that were never asked about again leave nothing behind for ever."""
    until = time.time() - KEPT_DAYS * 86_400
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            if file.suffix == ".json" and file.stat().st_mtime < until:
                files.discard(file)


EMPTY_ANSWER = "empty-answer"
"""The code with which a provider says that the model said nothing; it may say more the next time."""
LEAST_PART_BYTES = 1024
MAX_ROUNDS = 4
WINDOW_TOKENS = 8192
"""The window of a model of which nobody knows more."""
ANSWER_SHARE = 4
"""Of a small window the answer may take this part; of a large one what `max_output_tokens` says."""
_CLOSING = re.compile(r"<\s*/\s*(conversation|known)\b[^>]{0,40}>", re.IGNORECASE)


def room_for(words: str, settings: DistilSettings) -> int:
    """How many bytes of a conversation fit a call beside the words around them and the answer."""
    window = settings.context_tokens or WINDOW_TOKENS
    answer = min(settings.answer_tokens, window // ANSWER_SHARE)
    return max(LEAST_PART_BYTES, (window - answer) * WORST_BYTES_A_TOKEN - len(words.encode("utf-8", "replace")))


def summarize(conversation: Conversation, settings: DistilSettings, generate: Generate) -> str:
    """Shorten a conversation part by part (map), and what comes of it again while it is too long (reduce).

    Raises the failure of the model, `truncated-answer` for a summary that it did not bring to its end, `empty-summary`,
    or `summary-too-long` after MAX_ROUNDS: nothing is ever cut off to fit.
    """
    head = header(conversation)
    limit = max(LEAST_PART_BYTES, min(settings.part_bytes, settings.summarize_bytes))
    limit = min(limit, room_for(settings.summarize_prompt + head, settings))
    parts = split_parts(conversation, limit)
    for _ in range(MAX_ROUNDS):
        words = (
            f"{settings.summarize_prompt}\n\nPart {number} of {len(parts)}\n\n{fenced(_below(head, part))}"
            for number, part in enumerate(parts, start=1)
        )
        text = "\n\n".join(_summary(one, settings.attempts, generate) for one in words)
        if len(text.encode("utf-8", "replace")) <= settings.summarize_bytes:
            return text
        parts = _cut(text, limit)
    raise KnowledgeError("summary-too-long", "the model's summaries do not get shorter than the conversation")


def _summary(words: str, attempts: int, generate: Generate) -> str:
    """The whole summary of one part, asked for again when it is empty or broke off: what stands behind the break would
    go with the conversation."""
    problem = KnowledgeError("empty-summary", "the model returned no summary of a long conversation")
    for _ in range(max(1, attempts)):
        try:
            answer = generate(words)
        except KnowledgeError as failed:
            if failed.error.code != EMPTY_ANSWER:
                raise
            continue
        if answer.truncated:
            message = "the model stopped at its output limit in the summary of a long conversation"
            problem = KnowledgeError("truncated-answer", message, hint="raise max_output_tokens")
        elif answer.text.strip():
            return answer.text.strip()
    raise problem


def parts_of(conversation: Conversation, limit: int) -> list[str]:
    """What a model is shown of a conversation, in as many parts as it needs, each below the header. `limit` in bytes is
    for all that one call shows of it."""
    head = header(conversation)
    most = max(LEAST_PART_BYTES, limit - len(head.encode("utf-8", "replace")) - len("Part 1000 of 1000\n\n"))
    parts = split_parts(conversation, most)
    if len(parts) == 1:
        return [_below(head, parts[0])]
    return [_below(f"{head}Part {at} of {len(parts)}\n", part) for at, part in enumerate(parts, start=1)]


def _below(head: str, text: str) -> str:
    return f"{head}\n{text}" if head else text


def split_parts(conversation: Conversation, limit: int) -> list[str]:
    """The turns as a model is shown them, in parts of at most `limit` bytes, cut between turns, but not between a call
    and its result unless both together are longer; a longer turn is cut between lines."""
    parts: list[str] = []
    current, size = "", 0
    for text in _together(conversation, limit):
        length = len(text.encode("utf-8", "replace")) + 2
        if current and size + length > limit:
            parts.append(current)
            current, size = "", 0
        if length > limit:
            # Each piece says who speaks: what a tool said must not be taken for a user's word.
            label = text.partition("\n")[0]
            again = f"{label} (continued)\n"
            first, *rest = _cut(text, max(LEAST_PART_BYTES // 2, limit - len(again.encode("utf-8", "replace"))))
            parts += [first, *(again + piece for piece in rest)]
            continue
        current, size = f"{current}\n\n{text}".strip(), size + length
    return [*parts, current] if current else parts


def _together(conversation: Conversation, limit: int) -> Iterator[str]:
    """What is shown of the turns, a call and its results as one text where they fit into `limit` bytes."""
    shown = [text.strip() for text in rendered_turns(conversation)]
    for group in with_results(conversation):
        texts = [shown[number] for number in group if shown[number]]
        both = "\n\n".join(texts)
        yield from [both] if both and len(both.encode("utf-8", "replace")) + 2 <= limit else texts


def _cut(text: str, limit: int) -> list[str]:
    parts: list[str] = []
    current: list[str] = []
    size = 0
    pieces = [line[at : at + limit // 4] for line in text.split("\n") for at in range(0, max(1, len(line)), limit // 4)]
    for piece in pieces:
        length = len(piece.encode("utf-8", "replace")) + 1
        if current and size + length > limit:
            parts.append("\n".join(current))
            current, size = [], 0
        current.append(piece)
        size += length
    return [*parts, "\n".join(current)] if current else parts


def fenced(text: str) -> str:
    """Text between the marks that tell a model where foreign words begin and end."""
    inside = _CLOSING.sub(r"</\1_>", text)
    return f"<conversation>\n{inside}\n</conversation>\n"


Arrays = dict[str, list[Any]]

MAX_ROWS = 20
"""A small model that has nothing more to say begins again: the schema of one category ends it. What it ended is never
taken for whole: a text of that length goes to the quarantine, a full array is told."""

ANSWER_NOW = "The conversation ends here. Answer now, with the JSON object alone."
"""Behind a long conversation a model may have forgotten what it was asked."""
_VERSION = re.compile(r"\s*<!-- *(?P<name>[\w-]{1,60}), version (?P<version>[\w.-]{1,40}) *-->\s*")
_SECTION = re.compile(r"^## +(\w+) *$", re.MULTILINE)


def split_version(prompt: str) -> tuple[str, str]:
    """(the prompt without its first line, "name version"), as the first line `<!-- name, version 3 -->` tells.

    A prompt without such a line is somebody's own: it is told apart by the first eight digits of its SHA-256.
    """
    found = _VERSION.match(prompt)
    if found:
        return prompt[found.end() :], f"{found['name']} {found['version']}"
    return prompt, f"own {hashlib.sha256(prompt.encode('utf-8', 'replace')).hexdigest()[:8]}"


def category_questions(prompt: str) -> tuple[str, dict[str, str]]:
    """What stands above the conversation, and the question for each category below its heading `## facts`.

    A category that has no heading is not asked for; a heading that names no category is part of what is above it.
    """
    marks = [found for found in _SECTION.finditer(prompt) if found[1] in SCHEMA["properties"]]
    if not marks:
        return prompt.strip(), {}
    head = prompt[: marks[0].start()]
    ends = [found.start() for found in marks[1:]] + [len(prompt)]
    return head.strip(), {found[1]: prompt[found.end() : end].strip() for found, end in zip(marks, ends, strict=True)}


def ask(prompt: str, style: str, name: str, text: str, attempts: int, generate: Generate, known: str = "") -> Arrays:
    """The arrays of a model's answer; `known` stands above the conversation. Raises codes of the provider,
    `invalid-answer`, `truncated-answer`, `bad-prompt`.

    Of several questions the first that fails ends it: half a harvest would let a conversation go that taught more.
    """
    if style != "per_category":
        return _ask(f"{build_prompt(prompt, name, text, known)}\n{ANSWER_NOW}\n", SCHEMA, attempts, generate)
    head, questions = category_questions(prompt)
    if not questions:
        message = "the prompt has no heading such as '## facts'"
        raise KnowledgeError("bad-prompt", message, hint="see harvest-category.md")
    arrays: Arrays = {}
    for category, question in questions.items():
        words = f"{build_prompt(head, name, text, known)}\n{question}\n"
        answer = _ask(words, category_schema(category), attempts, generate)
        arrays[category] = answer[category]
        for beside in (UNASKED, *OFFERED):
            if beside in answer:
                arrays[beside] = [*arrays.get(beside, ()), *answer[beside]]
        if len(arrays[category]) == MAX_ROWS:
            arrays[FULL] = [*arrays.get(FULL, ()), category]
    return arrays


def _ask(words: str, schema: Mapping[str, Any], attempts: int, generate: Generate) -> Arrays:
    for again in range(max(1, attempts)):
        try:
            answer = generate(words + (RETRY_SUFFIX if again else ""), schema)
        except KnowledgeError as failed:
            if failed.error.code != EMPTY_ANSWER:
                raise
            problem = failed
            continue
        if answer.truncated:
            hint = "raise max_output_tokens in config.toml"
            problem = KnowledgeError("truncated-answer", "the model stopped at its output limit", hint=hint)
            continue
        try:
            return parse_answer(answer.text, schema["required"])
        except KnowledgeError as failed:
            problem = failed
    error = problem.error
    if error.code == EMPTY_ANSWER:
        raise problem
    raise KnowledgeError(error.code, f"no valid answer in {attempts} attempts: {error.message}", hint=error.hint)


def category_schema(category: str) -> dict[str, Any]:
    """The JSON schema of an answer with one array, of at most `MAX_ROWS` rows, each as long as a field may be."""
    row = SCHEMA["properties"][category]["items"]
    fields = {key: _shorter(value, key) for key, value in row["properties"].items()}
    array = {"type": "array", "items": row | {"properties": fields}, "maxItems": MAX_ROWS}
    return {"type": "object", "properties": {category: array}, "required": [category], "additionalProperties": False}


def _shorter(field: Mapping[str, Any], key: str = "") -> dict[str, Any]:
    if field.get("type") == "array":
        most = MAX_STEPS if key == "steps" else MAX_ROWS
        return {**field, "items": _shorter(field["items"]), "maxItems": most}
    is_text = field.get("type") == "string" and "enum" not in field
    return {**field, "maxLength": FIELD_CHARACTERS} if is_text else dict(field)


def build_prompt(template: str, name: str, text: str, known: str = "") -> str:
    """What the model is told, with the conversation below it, which cannot close its own fence."""
    above = f"{known}\n" if known else ""
    return f"{template}\n\nConversation name: {sanitise_name(name)}\n\n{above}{fenced(text)}"


def words_around(prompt: str, style: str) -> str:
    """What stands around a conversation in the longest question about it: it needs its room in the model's window."""
    if style != "per_category":
        return prompt + ANSWER_NOW
    head, questions = category_questions(prompt)
    return head + max(questions.values(), key=len, default="")


def joined(arrays: Sequence[Arrays]) -> Arrays:
    """What was found in the parts of one conversation, in their order."""
    found: Arrays = {}
    for one in arrays:
        for key, rows in one.items():
            found[key] = [*found.get(key, ()), *rows]
    return found
