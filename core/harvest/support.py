"""Who said what an item says. Its right to become a decision, a playbook or an order depends on the answer.

The turns decide, not the quote that a model chose. A passage (`PASSAGE` characters) supports an item by the share of
the item's words that stand in it: rare words weigh more than common ones, identifiers, paths and options twice as much,
scripts without blanks count by pairs of characters, and words that stand nowhere in the conversation (a paraphrase, a
translation) do not count. The best passage of people and the assistant is compared with the best one of tools.

- A user's words are their own, but for what they pasted; so are what they answered to a question that a tool put to
  them, and a command that the assistant ran and that succeeded, as the record tells. What the command says (the message
  of a commit, the text of a pull request) is the assistant's words; what it printed is a tool's, also where it looks
  like a receipt.
- The assistant's words are its own as far as no tool said them before: where half of what a passage gives an item stood
  in one passage of an earlier tool turn, and where it says that it reads something out, or what something
  wants that a tool named, the assistant is an echo.
- A quote tells where to look: words of a user, wherever they stand, and words of the assistant that no tool said
  before, are theirs. Such an item is a tool's only where one statement of a tool (`STATEMENT` characters) has `TOLD` of
  its words, and the quote has not: what merely shares its names with a long output was not told by it.
- What the assistant wrote into a file is its own, as far as no tool said it before; of what it says that it has done,
  such an edit is the proof. So is its summary of the session so far, but for the addresses in it.
- An address (URL, host, e-mail) must have been given by somebody; a tool that names it is not enough.
- What tools returned, what a system put in, and turns whose speaker is in doubt are a tool's word.
- What nobody can be shown to have said is a tool's word too, where there was a tool.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import MESSAGE, Command, Commit, Compaction, Edit, PullRequest, Push, Question
from core.harvest.orders import is_order, reads_out, speaks_for

PASSAGE = 600
ECHO = 0.5
RATIO = 0.75
STATEMENT = 200
"""The characters within which a tool says a thing; a longer stretch only has the same words."""
TOLD = 0.67
"""The share of a text that stands in one statement of a tool: of nearly every planted order, of little else."""
LEAST_OF_STEP = 0.6
"""A step of rarer words than this is judged; `see above` is anybody's."""
KNOWN = 0.2
"""Where less of a text stands anywhere in the conversation, nobody can be shown to have said it."""
NOTHING_FOREIGN = 400
"""The characters of a system's turn, such as a title, up to which it is no text that could be paraphrased."""
ECHO_OF_QUOTE = 0.8
"""The share of a quote of the assistant in one statement of a tool from which it is no word of its own."""
LEAST_WORDS = 3
"""A sentence of fewer plain words is compared by its paths and options as well."""
DONE = 0.3
"""The share of a deed that the assistant tells of which stands in the files that it wrote."""
MAX_ECHOES = 50
"""At most this many passages of the assistant are looked at, the best first."""
GOVERNED = ("decisions", "playbooks", "tasks_open", "tasks_done")
"""Categories whose items are followed, not only read: what counts as done is not done, or looked at, again."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
_CHUNK = re.compile(r"[^\s\"'`<>()\[\]{},;|*“”„«»‘’，。、；：！？（）「」]+")
_WORD = re.compile(r"[^\W_]+")
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_INNER = re.compile(r"\w[./:@_=\\~#]\w|\d[a-z]|[a-z]\d|^--?\w|^[~.]?/\w")
_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,64}")
"""The name of a commit says nothing by itself."""
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/]+|[\w.+-]+@[\w-]+\.[\w.]+|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]|$)|"
    r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|sh|invalid|example|test|co|app|ai|xyz|info|biz|ru|cn|site|online|top|me|to|cc|"
    r"link|cloud|tech|zip|gg|ly|de|uk|fr|eu|us)(?:[:/]|$)"
)
_SUFFIX = re.compile(r"(?:ing|ed|es|e|s|en|er|n)$")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_STEP_MARK = re.compile(
    r"&&|\|\||[;\n→]|->|(?<=[.!?])\s+|(?:^|\s)\(?\d{1,2}[.)]\s|\s[—–•]\s|,?\s+\bthen\b\s|[。；]|\*\*:?"
)
_FAILED = re.compile(
    r"exit(?:ed)?(?: with)?(?: code| status)?:? {0,3}[1-9]|returned (?:a )?non-zero|command not found|"
    r"no such file or directory|"
    r"permission denied|could not resolve host|connection refused|^traceback|^fatal\b|^error\b|^<tool_use_error>|"
    r"doesn't want to proceed|\brejected\b|\bdenied\b|interrupted|timed out|not recognized as",
    re.IGNORECASE | re.MULTILINE,
)
_DEED = re.compile(
    r"(?:^|[;&|(\n])[ \t]*(?:\w+=\S*[ \t]+)*(?:git(?:[ \t]+-[cC][ \t]+\S+)*[ \t]+(?:commit|push)"
    r"|(?:gh[ \t]+pr|glab[ \t]+mr)[ \t]+create)\b"
)
_SAID_IN_COMMAND = re.compile(
    r"""\s--?(?:title|body|t|b)[= ]\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')"""
    r"""|(?:^|[\s;&|(])(?:echo|printf)\s+(?:-\w+\s+)?(?P<printed>(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\n;&|<>"'])+)""",
    re.DOTALL,
)
"""What a command publishes beside a commit's message, or prints: words, which a tool may have said before, and no
deed."""
_HERE = re.compile(r"""<<-?[ \t]*(?P<quote>['"]?)(?P<stop>\w+)(?P=quote)[^\n]*\n""")


# What a user pasted into a message: an issue, a review, a mail, an output, a quotation. Somebody else wrote that.
_TEXTS = (
    "issues?|tickets?|bug|reports?|pull request|pr|reviews?|comments?|feedback|logs?|outputs?|errors?|traceback|trace|"
    "e-?mails?|messages?|pages?|articles?|readme|docs|documentation|posts?|threads?|notes?|instructions"
)
_ANNOUNCED = re.compile(
    rf"\b(?:here(?:'s| is| are)|this|these|following|below|from|see|got|get|gives?|shows?|pasted?)\b[^\n:]{{0,80}}"
    rf"\b(?:{_TEXTS})\b[^\n:]{{0,40}}:[ \t]*\n"
    rf"|^[ \t#*]*(?:{_TEXTS})\b[^\n:]{{0,40}}:[ \t*]*\n"
    r"|\b(?:sent|gave|forwarded|mailed|posted|wrote) (?:me|us|this|these)\b[^\n:?]{0,60}[:?][ \t]*\n"
    r"|\b(?:(?:note|text|message|issue)s? below|(?:he|she|they|somebody|someone|colleague|reviewer|team|customer|"
    r"client) (?:wrote|writes|said|says))\s?:",
    re.IGNORECASE | re.MULTILINE,
)
MAX_CHARACTERS_SEARCHED = 20_000
"""Only this many characters of a message are searched for an announcement of somebody's text."""
_PRINTED = re.compile(
    r"^[ \t]*(?:@?[\w-]+ (?:opened|closed) (?:this (?:issue|pull request)|on \w+ \d)|@?[\w-]+ commented (?:on )?\w+|"
    r"(?:Reported by|Reporter|Labels|Assignees?|Milestone|Reply-To) ?: |From: .*\nSubject: |"
    r"[#*\s]*(?:describe the bug|steps to reproduce|to reproduce|expected behaviou?r|actual behaviou?r|"
    r"additional context|bug report)\b[*: \t]*$|Traceback \(most recent call last\)|at [\w.$<>]+ ?\([^)\n]+:\d+)",
    re.IGNORECASE | re.MULTILINE,
)
# Where a template has a place for what the user asks, and where they say what to do, the fence there is theirs.
_SHOWN = re.compile(
    r"^(?:## User Input|[^\n:]{0,80}\b(?:do|run|execute|use):)[ \t]*\n{1,2}(?P<slot>`{3,}+)[^\n]*\n.*?^(?P=slot)[ \t]*$"
    r"|^[ \t]*(?P<fence>`{3,}+|~{3,}+|\"{3})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)"
    r"|^>[^\n]*$|^[ \t]*[\"“„«「『][^\n]{20,}[\"”“»」』][.,]?[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


def features(text: str) -> dict[str, float]:
    """The words of a text by which it can be known again, each with the weight of its kind."""
    return {feature: weight for feature, weight, _ in _tokens(text)}


def _tokens(text: str) -> Iterator[tuple[str, float, int]]:
    """(feature, weight, position) of every word and identifier."""
    flat = _INVISIBLE.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
    for chunk in _CHUNK.finditer(flat):
        found = chunk[0].rstrip(".:!?")
        if _HASH.fullmatch(found):
            continue
        if _INNER.search(found):
            yield f"={found}", 2.0, chunk.start()
        for word in _WORD.finditer(found):
            yield from _words(word[0], chunk.start() + word.start())


def _plain(text: str) -> dict[str, float]:
    """The words of a text that are no part of a path, an option or another identifier: what it says, not of what."""
    flat = _INVISIBLE.sub("", text).casefold()
    return features(" ".join(chunk[0] for chunk in _CHUNK.finditer(flat) if not _INNER.search(chunk[0].rstrip(".:!?"))))


def _words(word: str, at: int) -> Iterator[tuple[str, float, int]]:
    if not word.isascii() and (dense := list(_DENSE.finditer(word))):
        for run in dense:
            pairs = [run[0][i : i + 2] for i in range(max(1, len(run[0]) - 1))]
            for number, pair in enumerate(pairs):
                yield pair, 0.6, at + run.start() + number
        word = _DENSE.sub("", word)
    if len(word) < 3 and not word.isdigit():
        return
    bare = _SUFFIX.sub("", word) if len(word) > 4 else word
    yield bare[:6], (1.0 if len(word) > 4 else 0.7 if len(word) == 4 else 0.4), at


@dataclass
class _Passage:
    """Features of one stretch of text: `own` beyond doubt; of all others, the turn in which each stood first."""

    own: set[str] = field(default_factory=set)
    words: dict[str, int] = field(default_factory=dict)

    def all(self) -> set[str]:
        return self.own | self.words.keys()


class Voices:
    """What people, the assistant and tools said of some texts. Made once for all items of an answer: of the
    conversation only the words that occur in one of them are kept."""

    def __init__(self, conversation: Conversation, texts: Iterable[str]) -> None:
        self._wanted: set[str] = set()
        for text in texts:
            self._wanted.update(features(text))
        self._said: list[_Passage] = []
        self._tools: list[_Passage] = []
        self._statements: list[_Passage] = []
        self._deeds: list[_Passage] = []
        self._given: set[str] = set()
        self._first_tool: dict[str, int] = {}
        self._foreign = 0
        self._foreign_texts: list[str] = []
        self._length = 0
        self._commits: list[_Passage] = []
        self._branch = f"commit {conversation.branch} pushed"
        turns = conversation.turns if any(foreign for turn in conversation.turns for _, foreign in pieces(turn)) else ()
        self._turns = turns
        for number, turn in enumerate(turns):
            if not turn.doubtful:
                self._hear_deeds(turn, number)
            if turn.is_call:
                if _has_written(turn):
                    self._hear_assistant(turn, number, frozenset())
                    self._keep(turn.text, number, self._deeds)
            elif is_foreign(turn):
                self._foreign += len(turn.text) if turn.role != "system" else max(0, len(turn.text) - NOTHING_FOREIGN)
                self._hear_tool(turn.text, number)
            elif turn.role == "user":
                for piece, foreign in pieces(turn):
                    if foreign:
                        self._foreign += len(piece)
                        self._hear_tool(piece, number)
                    else:
                        self._hear(piece, number, own=True)
            else:
                self._hear_assistant(turn, number, _proven(turns, number))
                if turn.role == "system":
                    self._forget_addresses(turn.text, number)
        self._frequency: dict[str, int] = {}
        for passage in (*self._said, *self._tools):
            for feature in passage.all():
                self._frequency[feature] = self._frequency.get(feature, 0) + 1

    def _hear_deeds(self, turn: Turn, number: int) -> None:
        """What the assistant has made, as the record of it tells: commits, pushes and pull requests."""
        commands = [event for event in turn.events if isinstance(event, Command)]
        others = {event.start for event in commands if not _DEED.search(event.words)}  # such as `cat commit.log`
        for event in turn.events:
            if commands and event.start in others:
                continue
            if isinstance(event, Command) and not (event.failed or event.refused):
                said = " ".join(piece for piece, is_said in _words_and_deed(event.words) if is_said)
                self._keep(f"{said} {self._branch}", number, self._commits)
            elif isinstance(event, Commit) and event.succeeded is not False and not commands:
                self._hear(event.subject, number, own=False)
                self._keep(event.subject, number, self._commits)
            elif isinstance(event, Push) and event.succeeded is not False:
                self._hear(event.words, number, own=True)
            elif isinstance(event, PullRequest):
                self._hear(event.title, number, own=False)
                self._hear(event.url, number, own=True)
            elif isinstance(event, Question):
                for asked, options, answer in event.asked:
                    self._hear(f"{asked} {options}", number, own=False)  # the assistant may have them of a tool
                    self._hear(answer, number, own=True)

    def _hear_tool(self, text: str, number: int) -> None:
        self._foreign_texts.append(text)
        found = self._wanted_in(text)
        for feature, _ in found:
            self._first_tool.setdefault(feature, number)
        _divide(found, number, PASSAGE, self._tools)
        _divide(found, number, STATEMENT, self._statements)

    def _keep(self, text: str, number: int, passages: list[_Passage]) -> None:
        _divide(self._wanted_in(text), number, PASSAGE, passages)

    def _wanted_in(self, text: str) -> list[tuple[str, int]]:
        return [(feature, at) for feature, _, at in _tokens(text) if feature in self._wanted]

    def _hear_assistant(self, turn: Turn, number: int, proven: frozenset[str]) -> None:
        before = 0
        for start, end in (*_places(turn.text, proven), (len(turn.text), 0)):
            for sentence in _SENTENCE.split(turn.text[before:start]):
                if not reads_out(sentence) and not self._from_tool(speaks_for(sentence)):
                    self._hear(sentence, number, own=False)
            for piece, said in _words_and_deed(turn.text[start:end]):
                for sentence in _SENTENCE.split(piece) if said else [piece]:
                    self._hear(sentence, number, own=not (said and self._is_echo(sentence, number)))
            before = end

    def _forget_addresses(self, summary: str, number: int) -> None:
        """Who gave an address that only a summary of an earlier session names, nobody can tell."""
        for feature in features(summary).keys() & self._wanted:
            if feature not in self._first_tool and _ADDRESS.match(feature[1:]):
                self._first_tool[feature] = number
                self._given.discard(feature)

    def _from_tool(self, name: str) -> bool:
        """Whether a tool told of somebody or something before: what that wants is then the tool's word, too."""
        return bool(name) and any(name in text or name.lower() in text for text in self._foreign_texts)

    def _hear(self, text: str, number: int, *, own: bool) -> None:
        found = [(feature, self._length + at) for feature, at in self._wanted_in(text)]
        self._given.update(feature for feature, _ in found if own or feature not in self._first_tool)
        _divide(found, number, PASSAGE, self._said, first=0, own=own)
        self._length += len(text) + 1

    def only_tools(self, category: str, text: str, quote: str = "", turns: Iterable[int] = ()) -> bool:
        """Whether nobody but a tool (or nobody who is known) said what a text says, or one step or order in it.

        `quote` is what bears it out and `turns` are those in which it stands. Where a user, or the assistant before
        any tool, said those words, the item is held only if a tool's statement says nearly all of it.
        """
        if not self._tools and not self._foreign:
            return False
        own = self._own_words(quote, turns)
        deed = category == "tasks_done"
        pieces = [piece for piece in _STEP_MARK.split(text) if piece and piece.strip()]
        steps = category == "playbooks" and own is not None and len(pieces) > 2  # each of them is judged by itself
        if not steps and self._is_foreign(text, own, whole=True, deed=deed):
            return True
        if len(pieces) < 2:
            return False
        if category != "playbooks":
            return any(self._is_foreign(piece, own, whole=False, deed=deed) for piece in pieces if is_order(piece))
        # What a playbook is called is no step, unless a command or a path stands in it; `owner/repo` may be a path.
        called = (one for one in features(pieces[0]) if one.startswith("="))
        named = text.startswith("**") and not any(called)
        return any(self._is_foreign(piece, own, whole=False, deed=True) for piece in pieces[named:])

    def _own_words(self, quote: str, turns: Iterable[int]) -> frozenset[str] | None:
        """The words of a quote that is a user's, or the assistant's and no echo of a tool; None for any other."""
        whole = features(quote).keys()
        places = [at for at in turns if at < len(self._turns) and _is_own(self._turns[at])]
        asked = (pieces(self._turns[at]) for at in places if self._turns[at].role == "user")
        typed = ("\n".join(piece for piece, pasted in said if not pasted) for said in asked)
        if any(whole <= features(text).keys() for text in typed):
            return frozenset(whole)
        places = [at for at in places if self._turns[at].role != "user"]
        ran = (_words_and_deed(command) for at in places for command in _proven(self._turns, at))
        deeds = (" ".join(piece for piece, said in command if not said) for command in ran)
        if any(whole <= features(deed).keys() for deed in deeds):
            return frozenset(whole)
        if not places or self._is_echo(quote, min(places)):
            return None
        parts = [part for part in _SENTENCE.split(quote) if not self._is_echo(part, min(places), named=False)]
        return frozenset(one for part in parts for one in features(part))

    def _is_echo(self, said: str, number: int, *, named: bool = True) -> bool:
        """Whether words of the assistant in a turn are another's: it says so, or a tool's statement before it has
        nearly all of them. What they are `named` by, such as a path that only they have, makes them its own."""
        if reads_out(said) or self._from_tool(speaks_for(said)):
            return True
        plain, every = _plain(said), features(said)
        rows = [(row.words, row.words.keys() & every.keys()) for row in self._statements]
        before = {frozenset(one for one in found if words[one] < number) for words, found in rows if found}
        for kinds in [every, plain] if named and plain else [plain if len(plain) >= LEAST_WORDS else every]:
            echo = max((sum([kinds[one] for one in found & kinds.keys()]) for found in before), default=0.0)
            if echo < ECHO_OF_QUOTE * sum(kinds.values()):
                return False
        return True

    def _is_foreign(self, text: str, own: frozenset[str] | None, *, whole: bool, deed: bool = False) -> bool:
        """Whether a text is a tool's: a whole item, or one step or order in it. `own` are the words of its quote where
        that is no tool's, `deed` says that it is something which the assistant has done."""
        kinds = features(text)
        passages = len(self._said) + len(self._tools)
        weights = {
            feature: kind * (math.log(1 + passages / self._frequency[feature]) / math.log(1 + passages))
            for feature, kind in kinds.items()
            if feature in self._frequency
        }
        if self._has_address_of_tool(weights):
            return True
        if sum([kinds[feature] for feature in weights]) <= KNOWN * sum(kinds.values()):
            return whole and bool(kinds) and self._foreign > 0
        total = sum(weights.values())
        if not whole and total < LEAST_OF_STEP:
            return False
        said, tools = self._support(weights, total)
        if said >= RATIO * tools or (deed and _best_share(self._commits, weights, total) >= TOLD):
            return False
        if own is None:
            return True
        if deed and _best_share(self._deeds, weights, total) >= DONE:
            return False
        stated = _best_share(self._statements, weights, total)
        return stated >= TOLD and _share(own, weights, total) < RATIO * stated

    def _has_address_of_tool(self, found: Iterable[str]) -> bool:
        """Whether an address is among these features that a tool was the first to name, and no person."""
        named = (feature for feature in found if feature in self._first_tool and feature not in self._given)
        return any(_ADDRESS.match(feature[1:]) for feature in named)

    def _support(self, weights: Mapping[str, float], total: float) -> tuple[float, float]:
        """The best share of people and the assistant, and the best of tools."""

        def weigh(found: Iterable[str]) -> float:
            return sum([weights[feature] for feature in found])

        wanted = weights.keys()
        heard: dict[frozenset[str], int] = {}
        for passage in self._tools:  # in the order of the turns: what counts is who said it first
            if found := frozenset(passage.words.keys() & wanted):
                heard.setdefault(found, min(passage.words.values()))
        tools = max(map(weigh, heard), default=0.0)
        best = max((weigh(passage.own & wanted) for passage in self._said), default=0.0)
        shares = [(weigh(passage.all() & wanted), at) for at, passage in enumerate(self._said)]
        for share, at in sorted(shares, reverse=True)[:MAX_ECHOES]:
            if share <= best:
                break
            passage = self._said[at]
            words = {feature: passage.words[feature] for feature in (passage.words.keys() & wanted) - passage.own}
            echo = max(
                (weigh(one for one in found if words.get(one, -1) > turn) for found, turn in heard.items()), default=0.0
            )
            if echo < ECHO * weigh(words):
                best = share
        return best / total, tools / total


def _share(words: Collection[str], weights: Mapping[str, float], total: float) -> float:
    """How much of the weight of a text (`total` in all) stands among these words."""
    return sum([weights[feature] for feature in weights.keys() & words]) / total


def _best_share(passages: Iterable[_Passage], weights: Mapping[str, float], total: float) -> float:
    return max((_share(passage.words.keys(), weights, total) for passage in passages), default=0.0)


def _divide(
    found: Iterable[tuple[str, int]],
    number: int,
    length: int,
    passages: list[_Passage],
    *,
    first: int | None = None,
    own: bool = False,
) -> None:
    """Put the features of one text into passages, each of that many characters and half of it the next one's, too: into
    those from `first` on, else into new ones."""
    first, step = len(passages) if first is None else first, length // 2
    for feature, at in found:
        for place in {at // step, max(0, at // step - 1)}:
            while first + place >= len(passages):
                passages.append(_Passage())
            if own:
                passages[first + place].own.add(feature)
            else:
                passages[first + place].words.setdefault(feature, number)


def _has_written(turn: Turn) -> bool:
    """Whether a call wrote a file, and the record has its result elsewhere: otherwise the turn may hold it as well."""
    edits = [event for event in turn.events if isinstance(event, Edit)]
    return bool(edits) and all(event.answered and not event.failed and not event.refused for event in edits)


def _is_own(turn: Turn) -> bool:
    """Whether a user or the assistant speaks in a turn, or wrote a file by it."""
    return _has_written(turn) if turn.is_call else not is_foreign(turn)


def pasted_in(text: str) -> list[tuple[int, int]]:
    """Where pasted text stands in a message of a user: (first, behind the last character), ascending.

    No format records it, so the text must tell. A line announces somebody's text and ends with a colon, or it is one
    that only trackers, mail programs and interpreters print: from there to the end of the message all counts as pasted,
    for nothing tells where it ends. What is fenced or quoted is pasted wherever it stands.
    """
    announced = _ANNOUNCED.search(text, 0, MAX_CHARACTERS_SEARCHED)
    begins = [announced.end()] if announced and text[announced.end() :].strip() else []
    begins += [found.start() for found in [_PRINTED.search(text)] if found]
    end = min(begins, default=len(text))
    spans = [found.span() for found in _SHOWN.finditer(text, 0, end) if not found["slot"] or reads_out(found[0])]
    return [*spans, (end, len(text))] if end < len(text) else spans


def pieces(turn: Turn) -> list[tuple[str, bool]]:
    """The words of a turn in their order, each piece with whether it counts as a tool's: what a user pasted does."""
    if turn.role != "user" or is_foreign(turn):
        return [(turn.text, is_foreign(turn))]
    return _split(turn.text, pasted_in(turn.text))


def _split(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[str, bool]]:
    """A text as its pieces inside (True) and outside of the spans."""
    found, before = [], 0
    for start, end in spans:
        found += [(text[before:start], False), (text[start:end], True)]
        before = end
    return [(piece, inside) for piece, inside in (*found, (text[before:], False)) if piece]


def _words_and_deed(command: str) -> list[tuple[str, bool]]:
    """A command line as what it says (True: the message of a commit, the text of a pull request) and what it does."""
    said = (found for form in (MESSAGE, _SAID_IN_COMMAND) for found in form.finditer(command))
    spans = sorted([*(found.span(found.lastgroup or 0) for found in said), *_here_documents(command)])
    return _split(command, [span for at, span in enumerate(spans) if not at or span[0] >= spans[at - 1][1]])


def _here_documents(command: str) -> Iterator[tuple[int, int]]:
    """Where the texts stand that a command line is given below itself; one without an end reaches to the end."""
    begun = _HERE.search(command)
    while begun:
        end = re.compile(rf"^[ \t]*{begun['stop']}[ \t]*$", re.MULTILINE).search(command, begun.end())
        yield begun.end(), end.start() if end else len(command)
        begun = _HERE.search(command, end.end()) if end else None


def is_foreign(turn: Turn) -> bool:
    """Whether the words of a turn count as a tool's. What the assistant calls a tool with is its own, and no proof."""
    from_outside = turn.role == "tool" or (
        turn.role == "system" and not any(isinstance(one, Compaction) for one in turn.events)
    )
    return (from_outside and not turn.is_call) or turn.doubtful


def _places(text: str, commands: Iterable[str]) -> list[tuple[int, int]]:
    """Where the commands stand in a text, in ascending order; a reader puts each into a fence of its own."""
    places = []
    for command in filter(None, map(str.strip, set(commands))):
        fence = re.compile(rf"^`{{3,}}(?:bash)?\n({re.escape(command)})\n`{{3,}}", re.MULTILINE)
        places += [found.span(1) for found in fence.finditer(text)]
    kept: list[tuple[int, int]] = []
    for place in sorted(places):
        if not kept or place[0] >= kept[-1][1]:
            kept.append(place)
    return kept


def _proven(turns: tuple[Turn, ...], number: int) -> frozenset[str]:
    """The commands of an assistant's turn that were run and did not fail, as the results behind them tell."""
    commands = turns[number].commands
    if any(event.answered for event in commands):
        fine = (event for event in commands if event.answered and not event.failed and not event.refused)
        # The record knows whether it went well; only where it does not say so, the output tells.
        return frozenset(event.words for event in fine if event.failed is False or not _FAILED.search(event.output))
    ran = tuple(event.words for event in commands)
    if not ran:
        return frozenset()
    results = []
    for turn in turns[number + 1 :]:
        if turn.role != "tool":
            break
        if turn.is_call:
            continue
        results.append(f"{turn.text[:2000]}\n{turn.text[-2000:]}")
    if len(results) == len(ran):
        return frozenset(command for command, result in zip(ran, results, strict=True) if not _FAILED.search(result))
    passed = bool(results) and not any(_FAILED.search(result) for result in results)
    return frozenset(ran) if passed else frozenset()
