"""Long conversations, part by part: a part ends between turns, and quotes stay exact.

`long_conversations = "parts"` asks about each part that fits the model's window, with the header above it. With
`"summarise"` the conversation is first shortened by `summarize.md` (the way of seed 1): `summarize_threshold_bytes`
says what is long and how long the summary may be, `summary_part_bytes` how large a part is. Every call goes through the
run's meter, so its tokens count.
"""

from __future__ import annotations

import re

from core.base.answer import Generate
from core.base.result import Err, Ok, Result, fail
from core.conversations.conversation import Conversation
from core.conversations.render import header, rendered_turns
from core.harvest.options import DistilSettings

EMPTY_ANSWER = "empty-answer"
"""The code with which a provider says that the model said nothing; it may say more the next time."""
LEAST_PART_BYTES = 1024
MAX_ROUNDS = 4
WINDOW_TOKENS = 8192
"""The window of a model of which nobody knows more."""
BYTES_A_TOKEN = 3
"""How much of a text fits a token at the worst: what does not fit is cut by some servers without a word. Text of many
bytes a character takes more tokens for its length, and more bytes as well."""
ANSWER_SHARE = 4
"""Of a small window the answer may take this part; of a large one what `max_output_tokens` says."""
_CLOSING = re.compile(r"<\s*/\s*(conversation|known)\b[^>]{0,40}>", re.IGNORECASE)


def room_for(words: str, settings: DistilSettings) -> int:
    """How many bytes of a conversation fit a call beside the words around them and the answer."""
    window = settings.context_tokens or WINDOW_TOKENS
    answer = min(settings.answer_tokens, window // ANSWER_SHARE)
    return max(LEAST_PART_BYTES, (window - answer) * BYTES_A_TOKEN - len(words.encode("utf-8", "replace")))


def summarize(conversation: Conversation, settings: DistilSettings, generate: Generate) -> Result[str]:
    """Shorten a conversation part by part (map), and what comes of it again while it is too long (reduce).

    Err is that of the model, `truncated-answer` for a summary that it did not bring to its end, `empty-summary`, or
    `summary-too-long` after MAX_ROUNDS: nothing is ever cut off to fit.
    """
    head = header(conversation)
    limit = max(LEAST_PART_BYTES, min(settings.part_bytes, settings.summarize_bytes))
    limit = min(limit, room_for(settings.summarize_prompt + head, settings))
    parts = split_parts(conversation, limit)
    for _ in range(MAX_ROUNDS):
        summaries = []
        for number, part in enumerate(parts, start=1):
            words = f"{settings.summarize_prompt}\n\nPart {number} of {len(parts)}\n\n{fenced(_below(head, part))}"
            summary = _summary(words, settings.attempts, generate)
            if isinstance(summary, Err):
                return summary
            summaries.append(summary.value)
        text = "\n\n".join(summaries)
        if len(text.encode("utf-8", "replace")) <= settings.summarize_bytes:
            return Ok(text)
        parts = _cut(text, limit)
    return fail("summary-too-long", "the model's summaries do not get shorter than the conversation")


def _summary(words: str, attempts: int, generate: Generate) -> Result[str]:
    """The whole summary of one part, asked for again when it is empty or broke off: what stands behind the break would
    go with the conversation."""
    problem: Err = fail("empty-summary", "the model returned no summary of a long conversation")
    for _ in range(max(1, attempts)):
        answer = generate(words)
        if isinstance(answer, Err) and answer.error.code != EMPTY_ANSWER:
            return answer
        if isinstance(answer, Ok) and answer.value.truncated:
            message = "the model stopped at its output limit in the summary of a long conversation"
            problem = fail("truncated-answer", message, hint="raise max_output_tokens, or lower summary_part_bytes")
        elif isinstance(answer, Ok) and answer.value.text.strip():
            return Ok(answer.value.text.strip())
    return problem


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
    """The turns as a model is shown them, in parts of at most `limit` bytes, cut between turns; a longer turn is cut
    between lines."""
    parts: list[str] = []
    current, size = "", 0
    for turn in rendered_turns(conversation):
        text = turn.strip()
        if not text:
            continue
        length = len(text.encode("utf-8", "replace")) + 2
        if current and size + length > limit:
            parts.append(current)
            current, size = "", 0
        if length > limit:
            # Each piece says who speaks: what a tool said must not be taken for a person's word.
            label = text.partition("\n")[0]
            again = f"{label} (continued)\n"
            first, *rest = _cut(text, max(LEAST_PART_BYTES // 2, limit - len(again.encode("utf-8", "replace"))))
            parts += [first, *(again + piece for piece in rest)]
            continue
        current, size = f"{current}\n\n{text}".strip(), size + length
    return [*parts, current] if current else parts


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
