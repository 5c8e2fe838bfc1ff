"""The line in which a name stands with its value: one of data, of a note, or of a program."""

from __future__ import annotations

import re

from core.base import late
from core.base.secrets.values import is_type

LINE_ENDS = late(r"[ \t]*(?:#[^\n]*)?\r?(?:\n|$)|[.。](?=\s|$)")
"""What may stand behind a value that ends its line, or its sentence."""
_DATA = late(
    r"(?P<section>\[[\w .:\"-]{1,60}\][ \t]*$)|[ \t>*-]{0,40}[\"']?[\w.-]{0,40}?(?:user|login|host|port|url|mail"
    r"|account|database|server|smtp|ssid|db|name|id|benutzer\w*|usuario|identifiant"
    r"|from|role|driver)[\w.-]{0,12}[\"']?[ \t]*[:=][ \t]*(?P<value>[^\s,;{}()]+)[ \t]*$",
    re.I,
)


def is_literal(form: str, text: str, first: int, stop: int, sep: str) -> bool:
    """Whether nothing of a program can stand as the value: behind an option, `name=value` between blanks, in a tag."""
    follows = text[stop : stop + 1]
    if form in ("option", "listed"):
        return not text[stop : stop + 2].startswith(("(", "."))
    if form == "tag":
        return text[stop : stop + 2] == "</"
    if form != "assigned" or sep != "=" or follows not in ("", " ", "\t", "\n", "\r", "&", ";", '"', "'", "`"):
        return False
    head = text[max(0, first - 80) : first].rpartition("\n")[2]
    if head and not head.strip():
        return False  # an argument on a line of its own
    return not head or (head[-1] in " \t\"'`&?;-/=" and head.rstrip(" \t\"'`-")[-1:] not in (",", "("))


def is_beside_data(text: str, first: int, stop: int) -> bool:
    """Whether the line is one of data: nothing stands behind the value, and the line above or below says whose it
    is."""
    ends = text.find("\n", stop, stop + 120)
    ends = len(text) if ends < 0 and len(text) - stop < 120 else ends
    if ends < 0 or re.search(r"[,;{(\[]\s*$", text[stop:ends]):
        return False
    begins = text.rfind("\n", max(0, first - 200), first) + 1
    above = text[
        max(text.rfind("\n", max(0, begins - 200), max(0, begins - 1)) + 1, begins - 200, 0) : max(0, begins - 1)
    ]
    below = text[ends + 1 : ends + 200].partition("\n")[0]
    return any(
        (found := _DATA.match(line)) is not None and not (found["value"] and is_type(found["value"]))
        for line in (above, below)
    )


def is_line(text: str, at: int, stop: int) -> bool:
    """Whether a name, in small letters, and its value are all of a line, as in a note and in settings."""
    begins = text.rfind("\n", max(0, at - 40), at) + 1
    return (
        text[at].islower()
        and not text[begins:at].strip(" \t>*-")
        and text[stop : stop + 1] != "."
        and LINE_ENDS.match(text, stop) is not None
    )
