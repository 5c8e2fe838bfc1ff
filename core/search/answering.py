"""The excerpt that answers: of a session the few sentences that a reader of the question wants.

A match is where the words of a question stand, and those stand best in the question itself when it was asked before.
What answers is said around it: in the reply, in the message that closes the exchange, in the list behind the line that
announces it. So the sentences of these turns are weighed together: what stands around a sentence speaks for it, what
was said already counts little, and what a turn says as a whole nothing: a long one has every word somewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from core.search import conversations as stored
from core.search.words import Stems, words_of

if TYPE_CHECKING:
    from core.search.conversations import Database, Piece
    from core.search.terms import Query

CHARACTERS = 420
"""The length of an excerpt whose reader has no other room."""
PLACES = 20
"""The best matches whose exchanges are read. With 12 or 30, one of 55 key points less is told."""
BEHIND = 12
"""The turns behind a match that belong to its exchange."""
MATCHES = 400
"""The newest matches among which the best are looked for."""
READ = 4000
"""The characters of a match by which it is judged."""
LONG_SENTENCE, SHORT_SENTENCE, LONG_HEADING = 300, 24, 120
NEAR = 0.4
"""The weight of standing in the exchange of the best match; half of it in that of the second, and so on."""
PRINTED = 3
"""The calls and outputs of tools that are read whole where they are given. Of 295 key points of 136 questions the
first answer and one `read` tell 211; with the ends of outputs alone 205. What was written in the middle of a call makes
it 137 of 193 others, for 135."""
AT_END = 0.15
"""The weight of the message that closes an exchange."""
AROUND = 2
"""The sentences on either side that speak for the one between them."""
OF_AROUND = 0.8
"""Their weight beside its own. Where the whole turn counts instead, a passage tells 61 of 88 key points for 71 (at a
weight of 0.6)."""
AGAIN = 0.6
"""The weight of a word that an earlier sentence had, beside a new one."""
OF_USER = 0.3
"""The weight of the user's own words."""
OF_TOOL = -0.2
"""The weight of a tool's output."""
ANNOUNCES = -0.4
"""The weight of a sentence that announces work."""
TOLD = 0.00015
"""What each character that a turn has told already takes from its next sentence, or a long message would fill the
excerpt alone. With 0.0003, and 0.6 around, a passage of 3,000 characters has 63 % of the quotes that answer 52
questions, so 66 %."""
PASTED = 1500
"""Above this length a user's turn counts as pasted: the longer it is, the less of `OF_USER` it gets."""
REPLY = 40
"""A reply of at most this length is shown with the question that it answers."""
QUESTION = 240
"""The characters of that question that are shown."""
REFUSED = 0.5
"""The weight of a refusal where the question asks for one, and of a tool's error where it asks for that."""
APART = 3
"""The characters between two sentences of one turn."""
NUMBERED = 16
"""The characters before the first sentence of a turn, its number among them."""
BEHIND_THE_LAST = 2
"""Behind the last words a tool may have printed in so many turns: aider ends with the tokens that were used."""
ALIKE = 0.75
"""A sentence that shares this part of its words with a chosen one is left out."""
_ENDS = re.compile(r"((?<=[.!?。！？])(?<!\b\d\.)(?<!\b\d\d\.)\s+(?=[^\s])|\n+)")
_POINTS_BACK = re.compile(
    r"(?:this|that|these|those|it|they|same|otherwise|das|dies\w*|questo|cela|c'est|esto)\b", re.I
)
_OF_LISTING = re.compile(
    r"(?:\d+\s[\s{}()\[\];,#*_=`|-]*|(?:\d+\s?[→│]|\d+:(?=\s?[{}()\[\]]))?[\s{}()\[\];,#*_=`|+\-→│─\"'.<>/\\•:]*)\Z"
)
"""What a line of a listing may have behind its number, or without one, that says nothing: "125 }", "126→"."""
SHORT = 2
"""A turn of at most so many sentences is no listing."""
_HEADING = re.compile(r"(?:#{1,6} .*|\*\*[^*]+\*\*:?|[A-Z][\w /-]{2,40}:)\Z")
_FENCE = re.compile(r"`{3,}[\w.+-]*\Z")
_BOLD = re.compile(r"`[^`]*`|(?<![\w/])\*\*(?![\s/])([^*]+)(?<![\s/])\*\*(?![\w/])")
"""What is bold; a pattern of paths and code are none."""
_CAUSE = re.compile(
    r"\b(?:because|since|so that|due to|caused?|root cause|reason|turned out|instead|rather than|fix(?:ed)?|decided|"
    r"the (?:problem|issue|trick)|which (?:means|is why)|must|never|always|otherwise|therefore|weil|sondern|parce que|"
    r"porque|perché)\b",
)
_ASKS_CAUSE = re.compile(r"\b(?:why|reason|cause|how come|warum|pourquoi|perché)\b|por qué", re.IGNORECASE)
_ASKS_VALUE = re.compile(r"\b(?:which|what|how (?:many|much|long|large)|where|version|number|port|limit|name)\b", re.I)
_VALUE = re.compile(r"\d|`[^`]+`|/\w+/|\w\.\w{2,4}\b")
_ASKS_END = re.compile(
    r"\b(?:last|end(?:ed|s)?|stop(?:ped)?|still|left|open|ever|next|gone|finished|became|become|quiet|undone|outcome|"
    r"how far|what happened|(?:came|come) of|turn(?:ed)? out|broke off|finally(?! block| clause)|"
    r"schlu(?:ss|ß)|am ende|das ende(?! (?:der|des|eine[rs]|vo[nm])\b)|endeten?|geendet|zuletzt|schlie(?:ss|ß)lich|"
    r"finalement|s'est terminée?|"
    r"termin(?:ó|aron|ou|aram|ato|ata)|al final|por fin|acab(?:ó|ou)|no fim|alla fine|è finit[oa])\b|"
    r"закончил|кончил|в итоге|в конце|остал[оа]|最后|最終|结束|結局|どうなった|结果(?:怎|如何|呢|是什么|\Z)",
    re.IGNORECASE,
)
_ASKS_REFUSAL = re.compile(
    r"\b(?:turn(?:ed)? (?:\w+ ){0,3}down|declin\w+|refus\w+|reject\w+|sa(?:y|id) no|rifiut\w+|rechaz\w+)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:no?(?! (?:problem|worries|rush))|nope|nein|non)\b.*\(to: |.*\(refused by the user\)", re.IGNORECASE
)
_ASKS_FAILURE = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:ed|s|ing|ures?)?|crash\w*|broke|went wrong|did ?n[o']t (?:work|go|run|start)|"
    r"refused|fehler\w*|fehlgeschlagen|scheiter\w+|erreurs?|échou\w+|fallos?|falló|errore|galat|gagal)\b|错误|失败|报错|エラー",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"\b(?:\w+(?:error|exception)\b|error(?:\[\w+\])?:|fatal:|(?:panicked|failed|denied|not found|refused|no such|"
    r"cannot|unable to|exceeded)\b)",
    re.IGNORECASE,
)
_IS_ERROR = re.compile(
    r"\W*(?:[\w. ]{0,40}(?:error|exception)[:\]]|fatal:|panicked|failed (?:to|with)\b|permission denied|cannot\b)|"
    r".{0,200}: (?:command not found|no such file or directory|permission denied)",
    re.IGNORECASE,
)
"""How a line begins that is an error, and does not speak of one."""
_OPTION = re.compile(r"\W*(?:option |variant )?([a-d]|\d{1,2})[).:](?=\s)", re.IGNORECASE)
_NAMES_OPTION = re.compile(
    r"\W*(?:(?:option|variant|number|go with|take|let'?s (?:do|go with|take))\W+)*([a-d]|\d{1,2})"
    r"(?=[).,:!]|\s*$|\s+(?:please|it is|and|but)\b)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(r"(?:let me|i'?ll|i will|now (?:let|i)|next,? i|looking at|checking)\b", re.IGNORECASE)


class Excerpt(NamedTuple):
    """The words, and the turn (position from 0) that most of them are from. `share` of what the question asks for
    stands in them, `sharp` in two sentences side by side, 0 to 1."""

    text: str
    position: int
    share: float
    sharp: float


class _Sentence(NamedTuple):
    position: int
    at: int
    text: str
    terms: frozenset[int]
    base: float
    role: str = ""


class Weighed(NamedTuple):
    """The sentences of some turns with what speaks for each, of which an excerpt is made for any room. `shares` is how
    much of the question each of its terms is, and behind them what each likely one counts; `asked` the same with
    nothing for those. `last` is the turn at which the conversation ends."""

    shares: Sequence[float]
    asked: Sequence[float]
    rows: Sequence[_Sentence]
    last: int

    def excerpt(self, room: int) -> Excerpt | None:
        """The best sentences, in their order; None where nothing is left."""
        shares, rows = self.shares, self.rows
        picked = _picked(shares, rows, room)
        if not picked:
            return None
        seen = frozenset().union(*(row.terms for row in picked))
        of: dict[int, int] = {}
        for row in picked:
            of[row.position] = of.get(row.position, 0) + len(row.text)
        sides = pairwise((*rows, rows[-1]._replace(position=-1)))
        sharp = max(
            _mass(self.asked, one.terms | (then.terms if then.position == one.position else one.terms))
            for one, then in sides
        )
        errors = {row.text for row in picked if row.role != "user" and _IS_ERROR.match(row.text)}
        turns = Counter(text for text, _ in {(row.text, row.position) for row in rows if row.text in errors})
        text = _joined(picked, turns, self.last)
        return Excerpt(text, max(of, key=lambda at: of[at]), _mass(self.asked, seen), sharp)


def answering(
    database: Database,
    query: Query,
    stems: Stems,
    thread: int,
    places: Sequence[int],
    told: str = "",
    role: str = "",
    printed: Mapping[int, str] = MappingProxyType({}),
) -> Weighed | None:
    """The sentences of a conversation that may answer a question; `places` are the positions of the turns that match
    it, the best one first, () where nobody looked. What stands in `told` is known to the reader and left out; with a
    `role` only what that one said. Of what tools gave back the index has the ends: `printed` has the whole texts by
    their positions. None where the question has no words."""
    if not query.terms:
        return None
    spoken = stored.spoken(database, thread)
    if role:
        of_role = set(stored.positions(database, thread, role))
        best = _best_places(database, query, stems, thread, (), of_role)
        worth = {place: NEAR / (1 + rank) for rank, place in enumerate(best)}
        if role == "tool":
            worth |= _best_printed(query, stems, printed)
        return weighed(query, stems, _whole(stored.turns_at(database, thread, sorted(worth)), printed), worth, told)
    ends = _ends_of_exchanges(spoken)
    others = {at for at, _ in spoken}
    if places and not query.likely:  # a likely word may stand where none of the question does
        others.intersection_update(places)
    best = _best_places(database, query, stems, thread, places[:1], others)
    wanted: dict[int, float] = {}

    def want(at: int | None, worth: float) -> None:
        if at is not None:
            wanted[at] = max(wanted.get(at, worth), worth)

    for rank, place in enumerate(best):
        near = NEAR / (1 + rank)
        then = next((at for at, role in spoken if at > place and role == "user"), None)
        after = place + BEHIND + 1 if then is None else then
        for at in range(place, min(after, place + BEHIND + 1)):
            want(at, near)
        want(max((at for at in ends if place <= at < after), default=None), near + AT_END)
        want(max((at for at, role in spoken if at < place and role == "user"), default=None), near)
        want(then, near)
    if ends:
        wanted[max(ends)] = wanted.get(max(ends), 0.0) + AT_END
    if spoken and _ASKS_END.search(query.text):
        end = spoken[-1][0]
        asked = max((at for at, role in spoken if role == "user"), default=end)
        for at in (asked, *range(max(asked + 1, end - BEHIND), end + BEHIND)):
            want(at, NEAR + AT_END)
    for at, near in _best_printed(query, stems, printed).items():
        want(at, near)
    pieces = _whole(stored.turns_at(database, thread, sorted(wanted)), printed)
    pieces = _with_questions(database, thread, spoken, pieces)
    last = stored.last_position(database, thread)
    if spoken and last - spoken[-1][0] <= BEHIND_THE_LAST:
        last = spoken[-1][0]
    return weighed(query, stems, pieces, wanted, told, last)


def _with_questions(
    database: Database, thread: int, spoken: Sequence[tuple[int, str]], pieces: Sequence[Piece]
) -> list[Piece]:
    """These turns, of which a short reply of the user has behind it what it answers: of what the assistant said before
    the option that it names by a letter or number, else the question at the end."""
    before = {at: earlier for (earlier, who), (at, role) in pairwise(spoken) if (who, role) == ("assistant", "user")}
    replies = {one.position for one in pieces if len(one.text) <= REPLY} & before.keys()
    asked = {one.position: one.text for one in stored.turns_at(database, thread, sorted(before[at] for at in replies))}
    made = []
    for one in pieces:
        said = sentences(asked[before[one.position]]) if one.position in replies else []
        named = _NAMES_OPTION.match(one.text)
        marked = [(found[1].lower(), text) for text in said if (found := _OPTION.match(text[:NUMBERED]))]
        options = [text for mark, text in marked if named and len(marked) > 1 and mark == named[1].lower()]
        questions = options or [text for text in said[-1:] if "?" in text or "？" in text]
        reply = one.text.rstrip(" .!,。！")  # else the question would be a sentence of its own
        made += [one._replace(text=f"{reply} (to: {text[-QUESTION:]})") for text in questions[-1:]] or [one]
    return made


def _best_places(
    database: Database, query: Query, stems: Stems, thread: int, first: Sequence[int], others: set[int]
) -> list[int]:
    """The match that was found, then those of the others with most of what is asked, of equals the later one."""
    terms = (*query.terms, *query.likely)
    wanted = {stem: at for at, term in enumerate(terms) for stem in term.stems}
    turns = stored.turns_at(database, thread, sorted(others.difference(first))[-MATCHES:])
    words = {one.position: words_of(one.text[:READ]) for one in turns}
    said = stems.telling({word for some in words.values() for word in some}, wanted)
    has = {at: {said[word] for word in some if word in said} for at, some in words.items()}
    mass = {at: sum(terms[term].pull for term in some) for at, some in has.items()}
    best = sorted(mass, key=lambda at: (-mass[at], -at))[: PLACES - len(first)]
    return [*first, *best]


def _best_printed(query: Query, stems: Stems, printed: Mapping[int, str]) -> dict[int, float]:
    """The outputs in which the most of what is asked for stands close together, the later one of equals, and what that
    speaks for them."""
    wanted = {stem: at for at, term in enumerate(query.terms) for stem in term.stems}
    lines = {at: [words_of(line) for line in sentences(text)] for at, text in printed.items()}
    told = stems.telling({word for said in lines.values() for words in said for word in words}, wanted)
    mass: dict[int, float] = {}
    for at, said in lines.items():
        has = [frozenset([told[word] for word in words if word in told]) for words in said]
        near = (frozenset().union(*has[max(0, i - AROUND) : i + AROUND + 1]) for i in range(len(has)))
        mass[at] = max((sum(query.terms[term].pull for term in some) for some in near), default=0.0)
    best = sorted(mass, key=lambda at: (-mass[at], -at))[:PRINTED]
    return {at: NEAR / (1 + rank) for rank, at in enumerate(best)}


def _whole(pieces: Sequence[Piece], printed: Mapping[int, str]) -> list[Piece]:
    return [one._replace(text=printed.get(one.position, one.text)) for one in pieces]


def _ends_of_exchanges(spoken: Sequence[tuple[int, str]]) -> set[int]:
    """The last thing that the assistant said before the user spoke again: there it stands what came of it."""
    ends = {at for (at, role), (_, then) in pairwise(spoken) if (role, then) == ("assistant", "user")}
    return ends | {at for at, role in spoken[-1:] if role == "assistant"}


def chosen(query: Query, stems: Stems, text: str, room: int = CHARACTERS) -> str:
    """The best sentences of a text, in their order; "" where the question has no words, or the text says nothing."""
    found = weighed(query, stems, [stored.Piece(0, "", "", text)], {}).excerpt(room) if query.terms else None
    return found.text if found is not None else ""


def weighed(
    query: Query,
    stems: Stems,
    pieces: Sequence[Piece],
    worth: Mapping[int, float],
    told: str = "",
    last: int = -1,
) -> Weighed:
    """The sentences of these turns, without those that stand in `told`. `worth` is what speaks for a turn beforehand.
    What is shown from the turn at `last` on is the end of its conversation, and is marked so."""
    turns = [(one, [(text, words_of(text)) for text in sentences(one.text)]) for one in pieces]
    terms = (*query.terms, *query.likely)
    wanted = {stem: at for at, term in enumerate(terms) for stem in term.stems}
    said = stems.telling({word for _, texts in turns for _, words in texts for word in words}, wanted)
    asked = [kind.search(query.text) is not None for kind in (_ASKS_CAUSE, _ASKS_VALUE, _ASKS_REFUSAL, _ASKS_FAILURE)]
    shares = [term.pull / query.pull for term in terms]
    of_question = [*(term.worth / query.worth for term in query.terms), *(0.0 for _ in query.likely)]
    rows: list[_Sentence] = []
    for one, texts in turns:
        has = [frozenset([said[word] for word in words if word in said]) for _, words in texts]
        near = worth.get(one.position, 0.0)
        for at, (text, _) in enumerate(texts):
            listed = len(texts) > SHORT and _OF_LISTING.match(text)
            if text.strip("#*-_=`| \t") not in ("", "<blank>") and not listed and text not in told:
                around = frozenset().union(*has[max(0, at - AROUND) : at + AROUND + 1])
                base = near + OF_AROUND * _mass(shares, around) + _manner(asked, one, text)
                rows.append(_Sentence(one.position, at, text, has[at], base, one.role))
    return Weighed(shares, of_question, rows, last)


def _picked(shares: Sequence[float], rows: Sequence[_Sentence], room: int) -> list[_Sentence]:
    """Sentences by what each adds to those before it, until the room is full; in their order."""
    alike: dict[tuple[int, frozenset[int]], list[tuple[float, int]]] = {}
    for number, row in enumerate(rows):
        alike.setdefault((row.position, row.terms), []).append((row.base, -number))
    for group in alike.values():
        group.sort()  # the best one last: what else its score has is the same for the whole group
    kinds = {row.terms for row in rows}
    picked: list[_Sentence] = []
    of_turn = Counter[int]()
    seen: frozenset[int] = frozenset()
    said: list[frozenset[str]] = []
    while room >= SHORT_SENTENCE or not picked:
        fresh = {terms: _mass(shares, terms - seen) + AGAIN * _mass(shares, terms & seen) for terms in kinds}
        above = {(at, terms): fresh[terms] - TOLD * of_turn[at] for at, terms in alike}
        heads = [(-above[key] - group[-1][0], -group[-1][1], key) for key, group in alike.items() if group]
        heapify(heads)
        while heads:
            _, number, key = heappop(heads)
            best = rows[number]
            alike[key].pop()  # one that is refused now is refused for good, and changes no score
            taken = len(best.text) + (APART if of_turn[best.position] else NUMBERED)
            words = frozenset(words_of(best.text)) if not picked or taken <= room else frozenset[str]()
            if words and not any(len(words & had) > ALIKE * len(words) for had in said):
                break
            if group := alike[key]:
                heappush(heads, (-above[key] - group[-1][0], -group[-1][1], key))
        else:
            break
        picked.append(best)
        of_turn[best.position] += len(best.text)
        seen |= best.terms
        said.append(words)
        room -= taken
    return sorted(picked, key=lambda row: (row.position, row.at))


def without_bold(text: str) -> str:
    """A text as its sentences are shown."""
    return _BOLD.sub(lambda found: found[1] or found[0], text)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a turn, without fences and the marks of bold and of headings; a heading, and what ends
    with a colon, with the first one below it; what points back ("This is why") with what it points to; a long one in
    parts that end behind a word."""
    made, heading, line = list[str](), "", True
    for part in _ENDS.split(text):
        if part.isspace():
            line = "\n" in part
            continue
        words = " ".join(part.split())
        if not words or _FENCE.match(words):
            continue
        if made and not line and _POINTS_BACK.match(words) and len(made[-1]) + len(words) < LONG_SENTENCE:
            made[-1] = f"{made[-1]} {words}"
            continue
        if words.endswith(":") and not _HEADING.match(words) and len(heading) + len(words) < LONG_SENTENCE:
            heading = f"{heading} {words}".lstrip()
            continue
        if len(words) <= LONG_HEADING and _HEADING.match(words):
            heading = f"{heading} {words.lstrip('#* ').rstrip('*: ')}:".lstrip()
            if len(heading) > LONG_HEADING:  # one below the other, with nothing between
                made.append(heading)
                heading = ""
            continue
        words, heading = without_bold(f"{heading} {words}".lstrip()), ""
        while len(words) > LONG_SENTENCE:
            end = max(words.rfind(" ", 0, LONG_SENTENCE), LONG_SENTENCE // 2)
            made.append(words[:end])
            words = words[end:].lstrip()
        made.append(words)
    return [*made, heading] if heading else made


def share_of(query: Query, stems: Stems, text: str) -> float:
    """How much of what is asked for has its words in a text, 0 to 1."""
    has = set(stems.telling(words_of(text), {stem: stem for term in query.terms for stem in term.stems}).values())
    return sum(term.worth for term in query.terms if not has.isdisjoint(term.stems)) / query.worth


def _mass(shares: Sequence[float], terms: Iterable[int]) -> float:
    """How much of what is asked for these terms are, 0 to 1."""
    return sum([shares[term] for term in terms])


def _manner(asked: Sequence[bool], one: Piece, text: str) -> float:
    """What speaks for a sentence beside its words: that it tells what is `asked` for, and who says it."""
    score, (cause, value, refusal, failure) = 0.0, asked
    if _CAUSE.search(text.lower()):  # twice as fast as to ignore case
        score += 0.3 if cause else 0.12
    if value and _VALUE.search(text):
        score += 0.1
    if refusal and _REFUSAL.match(text):
        score += REFUSED
    if one.role == "tool":
        score += OF_TOOL
        if failure and _FAILURE.search(text):
            score += REFUSED
    elif one.role == "user":
        score += OF_USER * min(1.0, PASTED / len(one.text))
    if _ANNOUNCES.match(text):
        score += ANNOUNCES
    return score


def _joined(rows: Sequence[_Sentence], turns: Mapping[str, int], last: int) -> str:
    """In one line: what stands apart behind an ellipsis, and of several turns each with its number, from 1. An error
    that came in several `turns` says so."""
    numbered = len({row.position for row in rows}) > 1 or rows[0].role == "user"
    text, before, end = "", None, max(row.position for row in rows)
    for row in rows:
        near = before is not None and (before.position, before.at + 1) == (row.position, row.at)
        who = " user" * (row.role == "user") + ", the last" * (0 <= last <= end == row.position)
        mark = f"[{row.position + 1}{who}] " if numbered and (before is None or before.position != row.position) else ""
        again = " (more than once)" if turns.get(row.text, 0) > 1 else ""
        text += ("" if not text else " " if near else " … ") + mark + row.text + again
        before = row
    return text
