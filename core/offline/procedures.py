"""Playbooks in a text that nobody answered: a runbook, a cheat sheet, a note on how something is done.

A conversation shows that its commands worked; a written procedure says what to do, and is taken at its word. So this
looks only at texts without an assistant, and asks for what sets a procedure apart from a list of wishes: commands below
the line that says what they are for, or instructions to look at and act on a running system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from core.conversations.conversation import Conversation
from core.offline.playbooks import MAX_STEPS, bare_command, is_shell, known_program
from core.offline.prose import Code, Row, begun, clean, looks_like_code, sentences, whole
from core.offline.statements import Found

_FENCED = re.compile(r"`([^`\n]{2,300})`\.?")
_STARTS = re.compile(
    r"(?:sudo |\$ )?(?:[A-Z_]{2,40}=\S{0,80} )*"
    r"(?:(?:\./|~/|/)?[a-z0-9][\w.+/@-]{0,60}|\{\{[^}\n]{1,60}\}\}|[!.\[])(?= |$)"
)
_OPTION = re.compile(r"(?:^| )--?[\w?]|[|<>&=*~{$]|(?:^| )\.?/")
# What one does to a system that runs; "write", "implement", "refactor" would make every wish a procedure.
_LOOK = (
    "check|verify|ensure|make sure|confirm|inspect|look|review|see if|find out|identify|determine|investigate|monitor|"
    "validate|examine|compare|query|analy[sz]e|observe|diagnose|debug|describe|measure|test (?:if|whether|that)"
)
_ACT = (
    "restart|reboot|run|execute|start|stop|kill|scale|increase|decrease|reduce|raise|lower|expand|resize|extend|"
    "upgrade|"
    "update|downgrade|delete|remove|drain|cordon|evict|reschedule|redeploy|deploy|roll ?back|revert|restore|recover|"
    "rebuild|repair|replace|reload|reapply|apply|renew|rotate|regenerate|recreate|configure|adjust|tune|set|unset|"
    "enable|disable|open|close|connect|log in|login|ssh|go to|navigate|click|select|choose|enter|type|press|wait|"
    "install|uninstall|download|copy|move|mount|unmount|free|clean|clear|purge|prune|back up|backup|add|provide|give|"
    "use|try|consider|follow|contact|escalate|notify|silence|acknowledge|fix|correct|create|edit|change|switch|join|"
    "repeat|prepare|continue|fine[- ]tune|spread|plan|consult|"
    "set up|take|reach out|watch|report|allocate|assign|limit|refer|read|ask|call"
)
_IMPERATIVE = re.compile(
    r"(?:(?:please|now|then|next|first|finally|also|you (?:can|may|should|must)|try to),? )*"
    rf"(?:(?P<look>{_LOOK})|(?:{_ACT}))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|when|in case|for|to) [^,.]{3,100}, ", re.IGNORECASE)
_TITLE = re.compile(r"^(?:title|name): *['\"]?(.{3,80}?)['\"]?$|^#{1,2} +(.{2,80}?)\s*#*$", re.MULTILINE)
MAX_TEXT = 40_000
DENSE = 0.2  # of what is said, so much tells somebody to do something; in an essay it is far less


@dataclass
class _Part:
    """The steps below one heading."""

    heading: str
    steps: list[str] = field(default_factory=list)
    quote: str = ""
    looks: int = 0
    commands: int = 0


def find_procedures(rows: list[Row], codes: list[Code], conversation: Conversation) -> Iterator[Found]:
    """One playbook for each example of a cheat sheet (what it does -> the command), one for each part of a runbook."""
    pieces: dict[int, list[Row | Code]] = {}
    for row in rows:
        pieces.setdefault(row.turn, []).append(row)
    for code in codes:
        pieces.setdefault(code.turn, []).append(code)
    for number, found in sorted(pieces.items()):
        text = conversation.turns[number].text
        if len(text) <= MAX_TEXT:
            titled = _TITLE.search(text[:2000])
            title = clean(next(part for part in titled.groups() if part)) if titled else ""
            yield from _read(sorted(found, key=lambda piece: piece.at), title, number)


def _read(pieces: list[Row | Code], title: str, number: int) -> Iterator[Found]:
    parts: list[_Part] = []
    lead, lead_quote, said_in_all = "", "", 0
    for piece in pieces:
        if isinstance(piece, Code):
            commands = _fenced(piece)
            if commands and len(commands) <= MAX_STEPS:
                part = _part(parts, parts[-1].heading if parts else title)
                part.commands += len(commands)
                part.steps += commands
                part.quote = part.quote or next(line.strip() for line in piece.lines if commands[0] in line)
            continue
        said = whole(piece)
        bare = _bare_lines(piece)
        if bare:
            part = _part(parts, piece.heading or title)
            part.commands += len(bare)
            part.steps += bare
            part.quote = part.quote or said.quote
            lead = ""
            continue
        command = _command(piece.text, lead, title) if piece.kind == "prose" else ""
        if command and lead:
            yield _found(lead, [command], piece.text.strip() or lead_quote, number, 3)
            lead = ""
            continue
        lead, lead_quote = (said.text.rstrip(":"), said.quote) if said.text.endswith(":") else ("", "")
        part = _part(parts, piece.heading if not lead else title)
        for sentence in sentences(piece):
            said_in_all += 1
            text = _CONDITION.sub("", sentence.text, count=1)
            order = _IMPERATIVE.match(text)
            if order and not sentence.text.endswith(("?", ":")) and len(text.split()) > 2 and not looks_like_code(text):
                part.steps.append(sentence.text.rstrip("."))
                part.looks += order["look"] is not None
                part.quote = part.quote or sentence.quote
    looks, told = sum(part.looks for part in parts), sum(part.commands for part in parts)
    steps = sum(len(part.steps) for part in parts)
    if not (looks or told) or steps < DENSE * said_in_all:
        return
    for part in parts:
        if part.steps:
            name = (
                f"{title}: {part.heading}"
                if part.heading and title and part.heading != title
                else part.heading or title
            )
            for at in range(0, len(part.steps), MAX_STEPS):
                yield _found(name, part.steps[at : at + MAX_STEPS], part.quote, number, 2)


def _fenced(code: Code) -> list[str]:
    """The commands of a fence; of one with prompts those behind a prompt, the rest is output."""
    if not is_shell(code):
        return []
    prompted = any(line.lstrip().startswith("$ ") for line in code.lines)
    found = [bare_command(line, shorten=False) for line in code.lines if not prompted or line.lstrip().startswith("$ ")]
    return [line for line in found if line and (code.language or prompted or known_program(_program(line)))]


def _program(command: str) -> str:
    words = command.removeprefix("sudo ").split()
    return words[0] if words else ""


def _bare_lines(row: Row) -> list[str]:
    """The commands of a paragraph that holds little else: known programs with an option, a path or a variable."""
    if row.kind != "prose":
        return []
    edges = [*row.bounds, len(row.text) + 1]
    lines = [row.text[start : end - 1] for start, end in pairwise(edges)]
    found = []
    for line in lines:
        command = bare_command(line, shorten=False)
        if command and known_program(_program(command)) and _OPTION.search(command) and command[-1] not in ".:,;":
            found.append(command)
    return found if 2 * len(found) >= len(lines) else []


def _part(parts: list[_Part], heading: str) -> _Part:
    if not parts or parts[-1].heading != heading:
        parts.append(_Part(heading))
    return parts[-1]


def _command(text: str, lead: str, title: str) -> str:
    """The command that a line of its own holds, "" if it is none: in backticks, or told by the line above it."""
    inside = _FENCED.fullmatch(text.strip())
    bare = (inside[1] if inside else text).strip()
    if not lead or "\n" in bare or len(bare) > 300 or not _STARTS.match(bare):
        return ""
    words = bare.removeprefix("$ ").removeprefix("sudo ").split()
    program = title.lower().split()[:1] == words[:1] or known_program(words[0])
    if program or (inside and len(words) > 1) or _OPTION.search(bare):
        return bare.removeprefix("$ ")
    return ""


def _found(name: str, steps: list[str], quote: str, number: int, score: int) -> Found:
    name = name.strip(" :.*#-")
    name = begun(name)
    return Found("playbooks", {"name": name[:120], "steps": "; ".join(steps), "quote": quote}, score, number)
