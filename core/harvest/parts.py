"""Long conversations: summarised in parts before they are distilled, cut between turns and never short.

`summarize_threshold_bytes` says what is long and how long the summary may be, `summary_part_bytes` how large a part is;
the prompt is `summarize.md`. Every call goes through the run's meter, so its tokens count.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.base.answer import Generate
from core.base.result import Err, Ok, Result, fail
from core.conversations.conversation import Conversation
from core.conversations.read import transcript
from core.harvest.options import DistilSettings

EMPTY_ANSWER = "empty-answer"
"""The code with which a provider says that the model said nothing; it may say more the next time."""
LEAST_PART_BYTES = 1024
MAX_ROUNDS = 4
_CLOSING = re.compile(r"<\s*/\s*conversation\b[^>]{0,40}>", re.IGNORECASE)


def summarize(conversation: Conversation, settings: DistilSettings, generate: Generate) -> Result[str]:
    """Shorten a conversation part by part (map), and what comes of it again while it is too long (reduce).

    Err is that of the model, `truncated-answer` for a summary that it did not bring to its end, `empty-summary`, or
    `summary-too-long` after MAX_ROUNDS: nothing is ever cut off to fit.
    """
    limit = max(LEAST_PART_BYTES, min(settings.part_bytes, settings.summarize_bytes))
    parts = split_parts(conversation, limit)
    for _ in range(MAX_ROUNDS):
        summaries = []
        for number, part in enumerate(parts, start=1):
            head = f"{settings.summarize_prompt}\n\nPart {number} of {len(parts)}\n\n"
            summary = _summary(head + fenced(part), settings.attempts, generate)
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


def split_parts(conversation: Conversation, limit: int) -> list[str]:
    """The transcript in parts of at most `limit` bytes, cut between turns; a longer turn is cut between lines."""
    parts: list[str] = []
    current, size = "", 0
    for turn in conversation.turns:
        text = transcript(replace(conversation, turns=(turn,))).strip()
        if not text:
            continue
        length = len(text.encode("utf-8", "replace"))
        if current and size + length > limit:
            parts.append(current)
            current, size = "", 0
        if length > limit:
            # Each piece says who speaks: what a tool said must not be taken for a person's word.
            again = f"[{turn.role}] (continued)\n"
            first, *rest = _cut(text, limit - len(again))
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
    inside = _CLOSING.sub("</conversation_>", text)
    return f"<conversation>\n{inside}\n</conversation>\n"
