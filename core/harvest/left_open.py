"""Whether the record itself shows an open task: a commit that was made and not pushed, a file that was written and not
committed. Nobody but git may have said so, and that is enough.

The task must say that and nothing else: each of its words names the event, or is one of a few that tell of it. Its
quote must stand in the session behind the event, in git's own status or in words of people or the assistant. Where a
page, a file or another tool asks for the same, it waits as any task that they ask for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from core.conversations.changed import branch_at_end, command_parts
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Commit, PullRequest, Push
from core.conversations.ran import read_end
from core.harvest.orders import reads_out
from core.harvest.quotes import reduce_to_words
from core.harvest.support import pieces

_TELL = {
    "push": "branch commit commits committed local locally origin remote upstream github ahead unpushed pushed by",
    "commit": "changes change file files staged unstaged uncommitted untracked committed new edited branch",
}
_ANY = "the a an to of in on only it its is are was were which that this has have been not yet still but and with"
_IS = ("is", "are", "was", "were", "has", "have", "but", "and")
_WORD = re.compile(r"[^\s`'\"“”‘’,;:()—–]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STATUS = re.compile(r"(?:cd|git(?: -[cC] \S+)* (?:status|branch))(?: |$)")
"""What prints nothing but git's own words and the names of files."""
_HINT = re.compile(r"""\s*\(use "git push" to publish your local commits\)""")


def is_left_open(text: str, quote: str, places: Iterable[int], conversation: Conversation) -> bool:
    """Whether the record of a conversation shows an open task; `places` are the turns in which its quote stands."""
    words, turns = _words(text), conversation.turns
    if not quote.strip() or words[:1] not in (["push"], ["commit"]):
        return False
    verb, branch = words[0], (branch_at_end(turns) or conversation.branch).casefold()
    since, names = _uncommitted(turns) if verb == "commit" else _unpushed(turns, branch)
    known = {verb, branch, *f"{_TELL[verb]} {_ANY}".split()}
    named = [word for word in words if _is_any(word, names)]
    orders_not = any(word == "not" and before not in _IS for before, word in pairwise(words))
    if not named or orders_not or not {*words} <= known.union(named):
        return False
    status = "\n".join(_status(turns[since:]))
    told = (piece for turn in turns for piece, foreign in pieces(turn) if foreign)
    sentences = (said for piece in told for said in _SENTENCE.split(piece))
    asked = (_words(said) for said in sentences if said not in status and not _HINT.fullmatch(said))
    about = {"branch", "commit", "commits", branch} if verb == "push" else set[str]()
    if any(verb in said and any(word in about or _is_any(word, names) for word in said) for said in asked):
        return False
    if reduce_to_words(quote) in reduce_to_words(status):
        return True
    said = (piece for at in places if at >= since for piece, foreign in pieces(turns[at]) if not foreign)
    return not reads_out(quote) and any(reduce_to_words(quote) in reduce_to_words(piece) for piece in said)


def _words(text: str) -> list[str]:
    return [word for found in _WORD.findall(text.casefold()) if (word := found.rstrip(".!?"))]


def _is_any(word: str, names: Iterable[str]) -> bool:
    """Whether a word names a branch, a commit by enough of its hash, or a file from whichever folder."""
    is_hash, file = re.fullmatch(r"[0-9a-f]{7,40}", word), re.split(r"[\\/]", word)[-1]
    return any(name in (word, file) or (is_hash and (name.startswith(word) or word.startswith(name))) for name in names)


def _unpushed(turns: Iterable[Turn], branch: str) -> tuple[int, Collection[str]]:
    """The turn of the last commit, and the names of what was not pushed since; none where it may have been."""
    at, names = 0, set[str]()
    for number, turn in enumerate(turns):
        for event in turn.events:
            if isinstance(event, Commit) and event.succeeded:
                at, names = number, {*names, event.hash.casefold()} - {""}
            elif (isinstance(event, Push) and event.succeeded is not False) or isinstance(event, PullRequest):
                names = set()
    return at, {*names, branch, f"origin/{branch}"} if names and branch else names


def _uncommitted(turns: tuple[Turn, ...]) -> tuple[int, Collection[str]]:
    """The turn of the last commit, and the names of the files that were written behind it."""
    commits = (
        at for at, turn in enumerate(turns) if any(isinstance(one, Commit) and one.succeeded for one in turn.events)
    )
    return max(commits, default=0), {name.casefold() for name in read_end(turns).files}


def _status(turns: Iterable[Turn]) -> Iterator[str]:
    commands = (event for turn in turns for event in turn.commands if event.answered)
    return (event.output for event in commands if all(map(_STATUS.match, command_parts(event.words))))
