"""Playbooks in a text that nobody answered: a runbook, a cheat sheet, a note on how something is done.

A conversation shows that its commands worked; a written procedure says what to do, and is taken at its word. So this
looks only at texts without an assistant, and asks for what sets a procedure apart from a list of wishes: commands below
the line that says what they are for, or instructions to look at and act on a running system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.conversations.conversation import Conversation
from core.harvest.offline_playbooks import MAX_STEPS, bare_command, is_shell, known_program
from core.harvest.offline_prose import Code, Row, clean, looks_like_code, sentences, whole
from core.harvest.offline_statements import Found

_FENCED = re.compile(r"`([^`\n]{2,300})`\.?")
_STARTS = re.compile(
    r"(?:sudo |\$ )?(?:[A-Z_]{2,40}=\S{0,80} )*(?:\./|~/|/)?(?:[a-z0-9][\w.+/@-]{0,60}|\{\{[^}\n]{1,60}\}\}|[!.\[])(?= |$)"
)
_OPTION = re.compile(r"(?:^| )--?[\w?]|[|<>&=/*~{$]|\.\w{1,5}\b")
# What one does to a system that runs; "write", "implement", "refactor" would make every wish a procedure.
_LOOK = (
    "check|verify|ensure|make sure|confirm|inspect|look|review|see if|find out|identify|determine|investigate|monitor|"
    "validate|examine|compare|query|analy[sz]e|observe|diagnose|debug|describe|measure|test (?:if|whether|that)"
)
_ACT = (
    "restart|reboot|run|execute|start|stop|kill|scale|increase|decrease|reduce|raise|lower|expand|resize|extend|upgrade|"
    "update|downgrade|delete|remove|drain|cordon|evict|reschedule|redeploy|deploy|roll ?back|revert|restore|recover|"
    "rebuild|repair|replace|reload|reapply|apply|renew|rotate|regenerate|recreate|configure|adjust|tune|set|unset|"
    "enable|disable|open|close|connect|log in|login|ssh|go to|navigate|click|select|choose|enter|type|press|wait|"
    "install|uninstall|download|copy|move|mount|unmount|free|clean|clear|purge|prune|back up|backup|add|provide|give|"
    "use|try|consider|follow|contact|escalate|notify|silence|acknowledge|fix|correct|create|edit|change|switch|join|"
    "repeat|allocate|assign|limit|refer|read|ask|call|then|first|next|if (?:the|this|that|it|you|there|all|any|not)"
)
_IMPERATIVE = re.compile(
    rf"(?:(?:please|now|then|next|first|finally|also|you (?:can|may|should|must)|try to),? )*(?P<look>{_LOOK})\b|(?:(?:please|now|then|next|first|finally|also|you (?:can|may|should|must)|try to),? )*(?:{_ACT})\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|when|in case|for|to) [^,.]{3,100}, ", re.IGNORECASE)
_TITLE = re.compile(r"^(?:title|name): *['\"]?(.{3,80}?)['\"]?$|^#{1,2} +(.{2,80}?)\s*#*$", re.MULTILINE)
MAX_TEXT = 40_000


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
    for number, turn in enumerate(conversation.turns):
        if turn.role != "user" or len(turn.text) > MAX_TEXT:
            continue
        pieces: list[Row | Code] = [piece for piece in (*rows, *codes) if piece.turn == number]
        pieces.sort(key=lambda piece: piece.at)
        found = _TITLE.search(turn.text[:2000])
        title = clean(next(part for part in found.groups() if part)) if found else ""
        yield from _read(pieces, title, number)


def _read(pieces: list[Row | Code], title: str, number: int) -> Iterator[Found]:
    parts: list[_Part] = []
    lead, lead_quote = "", ""
    for piece in pieces:
        if isinstance(piece, Code):
            commands = [command for line in piece.lines if (command := bare_command(line))] if is_shell(piece) else []
            if commands and len(commands) <= MAX_STEPS:
                part = _part(parts, lead or title)
                part.commands += len(commands)
                part.steps += commands
                part.quote = part.quote or next(line.strip() for line in piece.lines if commands[0] in line)
            continue
        said = whole(piece)
        command = _command(piece.text, lead, title)
        if command and lead:
            yield _found(lead, [command], piece.text.strip() or lead_quote, number, 3)
            lead = ""
            continue
        lead, lead_quote = (said.text.rstrip(":"), said.quote) if said.text.endswith(":") else ("", "")
        part = _part(parts, piece.heading if not lead else title)
        for sentence in sentences(piece):
            text = _CONDITION.sub("", sentence.text, count=1)
            order = _IMPERATIVE.match(text)
            if order and not sentence.text.endswith(("?", ":")) and len(text.split()) > 2 and not looks_like_code(text):
                part.steps.append(sentence.text.rstrip("."))
                part.looks += order["look"] is not None
                part.quote = part.quote or sentence.quote
    looks, commands_ = sum(part.looks for part in parts), sum(part.commands for part in parts)
    if not looks and not commands_:
        return
    for part in parts:
        if part.steps and (len(parts) == 1 or part.steps):
            name = (
                f"{title}: {part.heading}"
                if part.heading and title and part.heading != title
                else part.heading or title
            )
            for at in range(0, len(part.steps), MAX_STEPS):
                yield _found(name, part.steps[at : at + MAX_STEPS], part.quote, number, 2)


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
    bare = bare.removeprefix("$ ")
    if inside:
        return bare
    words = bare.removeprefix("sudo ").split()
    same = title.lower().split()[:1] == words[:1]
    if same or known_program(words[0]) or _OPTION.search(bare) or (len(words) <= 6 and bare[-1:] not in ".?!:,;"):
        return bare
    return ""


def _found(name: str, steps: list[str], quote: str, number: int, score: int) -> Found:
    name = name.strip(" :.*#-")
    name = name[:1].upper() + name[1:] if name[:1].isalpha() else name
    return Found("playbooks", {"name": name[:120], "steps": "; ".join(steps), "quote": quote}, score, number)
