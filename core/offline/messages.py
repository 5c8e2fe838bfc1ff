"""Requests in a message that stands alone: a mail, a line of a chat, a short note that somebody else wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation
from core.offline.features import request_features
from core.offline.prose import Row, begun, clean, looks_like_code, sentences
from core.offline.statements import Found
from core.offline.weights import Models, chance

MOST_ROWS = 40
_TAG = re.compile(r"&(?:quot|amp|lt|gt|#\d{1,5});")
_CHARACTERS = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}


def find_requests(rows: list[Row], conversation: Conversation, models: Models) -> Iterator[Found]:
    """What a message asks for, as open tasks: nobody answered, so each request and each question waits.

    Only for texts without an assistant and without headings, at most `MOST_ROWS` paragraphs: in documentation every
    second sentence is an imperative that asks nobody for anything.
    """
    weights = models.get("request")
    if not weights or not 0 < len(rows) <= MOST_ROWS or any(row.kind == "check" for row in rows):
        return
    if any(turn.text.startswith("#") or "\n#" in turn.text or "```" in turn.text for turn in conversation.turns):
        return
    for row in rows:
        for sentence in sentences(row):
            text = _TAG.sub(lambda tag: _CHARACTERS.get(tag[0], " "), sentence.text)
            if len(text.split()) < 2 or looks_like_code(text):
                continue
            yes = chance(weights, request_features(text))
            if yes >= weights.threshold:
                text = begun(clean(text))
                fields = {"statement": text, "detail": "", "quote": sentence.quote}
                yield Found("tasks_open", fields, round(1 + 4 * yes), row.turn)
