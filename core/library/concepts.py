"""Which ideas, things and methods a text speaks of, and where in it they really stand.

Candidates are what a text marks as a name: words in backticks, titles and headings, names in capitals, definitions of
code, phrases that it repeats. A chunk mentions a concept where one of its spellings stands in the chunk as whole words,
whatever their case; nothing is linked on likeness.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from core.library.chunking import Piece
from core.library.describe import FENCED, Named, sentences_of
from core.library.extract import Extracted
from core.library.records import folded
from core.search.words import STOP_WORDS

MAX_CONCEPTS = 30
"""A document brings in at most this many concepts; more would be its dictionary."""
LONGEST = 5
"""Words of a name, at the most."""

_TOKEN = re.compile(r"\w+(?:[./:+#'’-]+\w+)*(?:\+\+|#(?!\w))?")
_PARTS = re.compile(r"[./:'’-]+")
_SPACE = re.compile(r"\s+\Z")


# --- where concepts stand ---------------------------------------------------------------------------------------------


class Names:
    """Folded spellings that are looked for in texts, each with what it stands for."""

    def __init__(self, meanings: Mapping[str, str] | None = None) -> None:
        self.meanings: dict[str, str] = {}
        self._words: dict[str, int] = {}  # first word -> words of the longest name that begins with it
        for name, meaning in (meanings or {}).items():
            self.add(name, meaning)

    def add(self, name: str, meaning: str) -> None:
        """A further spelling."""
        words = [found[0] for found in _TOKEN.finditer(name)]
        if words and len(words) <= LONGEST:
            self.meanings.setdefault(name, meaning)
            self._words[words[0]] = max(self._words.get(words[0], 0), len(words))

    def counted(self, text: str) -> Counter[str]:
        """Meaning -> how often it stands in a text; of names that begin at one place the longest counts."""
        found: Counter[str] = Counter()
        tokens = _tokens(text)
        longest, at = self._words, 0
        while at < len(tokens):
            word = tokens[at][2]
            if word in longest and (number := self._at(text, tokens, at, found)):
                at += number
                continue
            at += 1
            meaning = self._meaning(word)
            if meaning is not None:
                found[meaning] += 1
            elif not word.isalnum():  # `asyncio.create_task` speaks of both
                for part in _PARTS.split(word):
                    if part != word and (inner := self._meaning(part)) is not None:
                        found[inner] += 1
        return found

    def _at(self, text: str, tokens: Sequence[_Token], at: int, found: Counter[str]) -> int:
        """Count the longest name of several words that begins at a token; how many tokens are done, 0 for none."""
        for number in range(min(self._words[tokens[at][2]], len(tokens) - at), 1, -1):
            row = tokens[at : at + number]
            if all(_SPACE.match(text, left[1], right[0]) for left, right in pairwise(row)):
                meaning = self._meaning(" ".join(word for _begins, _ends, word in row))
                if meaning is not None:
                    found[meaning] += 1
                    return number
        return 0

    def _meaning(self, name: str) -> str | None:
        known = self.meanings.get(name)
        if known is None and len(name) > 4 and name[-1] == "s":
            return self.meanings.get(name[:-1])
        return known


_Token = tuple[int, int, str]


@lru_cache(maxsize=2048)
def _tokens(text: str) -> tuple[_Token, ...]:
    """(begins, ends, folded word), of what can be a part of a name."""
    if text.isascii():
        return tuple((match.start(), match.end(), match[0]) for match in _TOKEN.finditer(text.lower()))
    return tuple((match.start(), match.end(), folded(match[0])) for match in _TOKEN.finditer(text))


# --- which there are --------------------------------------------------------------------------------------------------

_TICKED = re.compile(r"(?<!`)`([^`\n]{2,60})`(?!`)")
_CAPITAL = re.compile(r"(?<![.!?:\n] )(?<!^)\b([A-Z][a-z]+(?:[ -][A-Z][a-z]+){1,3})\b")
_ACRONYM = re.compile(r"\b([A-Z][A-Z0-9]{1,7}s?)\b")
_MIXED = re.compile(r"\b([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z]+[A-Z]{2,}\w*)\b")
_SNAKE = re.compile(r"\b([a-z][a-z0-9]+(?:_[a-z0-9]+)+|[a-z]\w+(?:\.[a-z_]\w+)+)(?=\W|$)")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?\Z")
_IMPORT = re.compile(
    r"^[ \t]*(?:import|from|use|require(?:_once)?|#include|using)\s+[<\"'({]*([A-Za-z_][\w.]*)", re.MULTILINE
)
_ARTICLE = re.compile(r"(?:the|an?) (?=\w)", re.IGNORECASE)
_PHRASE = re.compile(r"[a-z][a-z'-]+")
_COMMON = (
    "introduction overview summary conclusion conclusions background abstract references contents content context "
    "status decision consequences notes note usage example examples installation license todo misc other general "
    "details about description appendix discussion results methods related-work related further-reading see-also "
    "setup faq changelog getting-started index readme home none true false null yes no ok the and for user assistant "
    "tool system title date author self args kwargs str int list dict bool float any return main init test tests new "
    "get set add run name value data type key id url http https www com org html json api all make path text file "
    "line done show edit use keep motivation meaning diagnosis impact mitigation mapping drawbacks alternatives "
    "prior-art unresolved-questions open-questions future-possibilities next-steps goals non-goals scope rationale "
    "requirements prerequisites acceptance-criteria tasks attendees agenda minutes"
)
_GENERIC = frozenset(_COMMON.split())
"""Names that say nothing about what a text is about."""
_PLAIN_MODULES = (
    "abc argparse ast builtins collections contextlib copy dataclasses enum functools inspect io itertools logging "
    "math operator os pathlib random re shutil string struct sys tempfile textwrap time traceback types typing "
    "warnings __future__"
)
_BUILT_IN = frozenset(name.casefold() for name in dir(builtins)) | frozenset(_PLAIN_MODULES.split())
"""What every program in Python speaks of."""
_OF_TESTS = re.compile(r"test_|tests?$|setup_|teardown_|Test[A-Z_]|\w+(?:_tests?|Tests?|TestCase)$")
_WEIGHT = {"defined": 3.0, "heading": 2.5, "ticked": 2.0, "imported": 1.5, "named": 1.5, "mixed": 1.2, "word": 0.8,
           "phrase": 0.8}  # fmt: skip


def candidates(document: Extracted, pieces: Sequence[Piece]) -> list[Named]:
    """What a document speaks of by its own marks, the weightiest first."""
    found: dict[str, str] = {}  # folded -> kind of mark
    spelt: dict[str, Counter[str]] = {}
    code = document.form == "code"

    def see(name: str, mark: str) -> None:
        name = " ".join(name.strip(" .,;:!?()[]{}\"'`*#").removesuffix("()").split())
        name = _ARTICLE.sub("", name, count=1)
        key = folded(name)
        if not _is_name(key) or key.startswith(("_", "self.", "cls.")) or "._" in key:
            return
        if code and (key.rpartition(".")[2] in _BUILT_IN or _OF_TESTS.match(name.rpartition(".")[2])):
            return
        if mark in ("ticked", "defined") and key.isalpha() and name == key:
            mark = "word"  # a name that may be a word of the language
        spelt.setdefault(key, Counter())[name] += 1
        if key not in found or _WEIGHT[mark] > _WEIGHT[found[key]]:
            found[key] = mark

    if not code:
        see(document.title, "heading")
    for piece in pieces:
        last = piece.heading.rpartition(" > ")[2]
        if code and last:
            see(last, "defined")
        elif last and not last.startswith("turn") and len(last.split()) <= 4:
            see(re.sub(r"^[\d.]+\s+", "", last), "heading")
        text = document.text[piece.begins : piece.ends]
        for pattern, mark in _MARKS_OF_CODE if code else _MARKS:
            for match in pattern.finditer(text):
                if pattern is not _TICKED or _IDENTIFIER.match(match[1]) or len(match[1].split()) <= 3:
                    see(match[1], mark)
    for phrase in () if code else _phrases(document.text):
        see(phrase, "phrase")
    prose = _CODE.sub(" . ", FENCED.sub(" . ", document.text)) if not code else document.text
    counted = _Words(prose)
    kept = {key: mark for key, mark in found.items() if not _is_no_name(mark, spelt[key], counted)}
    return _weightiest(document, pieces, kept, spelt)


_MARKS = (
    (_TICKED, "ticked"), (_CAPITAL, "named"), (_ACRONYM, "named"), (_MIXED, "mixed"), (_SNAKE, "mixed"),
    (_IMPORT, "imported"),
)  # fmt: skip

_MARKS_OF_CODE = ((_ACRONYM, "named"), (_MIXED, "mixed"), (_IMPORT, "imported"))


def _is_name(key: str) -> bool:
    words = _TOKEN.findall(key)
    plain = key.replace(" ", "-")
    return (
        2 <= len(key) <= 60
        and 1 <= len(words) <= LONGEST
        and any(character.isalpha() for character in key)
        and "redacted" not in words
        and plain not in _GENERIC
        and not (len(words) == 1 and (key in STOP_WORDS or len(key) < 3))
        and not all(word in STOP_WORDS or word in _GENERIC for word in words)
        and words[0] not in STOP_WORDS
        and words[-1] not in STOP_WORDS
    )


def _phrases(text: str) -> list[str]:
    """Two or three words that a text says together at least three times, without words that say nothing."""
    lowered = re.sub(r"`[^`]*`", " . ", text).lower()
    counts: Counter[str] = Counter()
    for run in re.split(r"[^a-z' \n-]+|\n\s*\n", lowered):
        words = _PHRASE.findall(run)
        for size in (2, 3):
            for at in range(len(words) - size + 1):
                row = words[at : at + size]
                ends_well = _BETWEEN.isdisjoint((row[0], row[-1]))
                if ends_well and not any(word in STOP_WORDS or len(word) < 4 or "'" in word for word in row):
                    counts[" ".join(row)] += 1
    return [phrase for phrase, number in counts.most_common(40) if number >= 3]


_SAYING_LITTLE = (
    "never always ever less least more most much many several other another same only also even still just again "
    "already almost rather quite very might must cannot something anything nothing everything someone anyone else "
    "like last next under over against around across within without during between through while until since because "
    "although whether therefore however make made sure think want need know said going looking"
)
_BETWEEN = frozenset(_SAYING_LITTLE.split())
"""No name begins or ends with these. Of 169 phrases of 181 documents they and an apostrophe leave out 28."""
_CODE = re.compile(r"`[^`\n]*`|https?://\S+")
_RULE_NUMBER = re.compile(r"[A-Z]\d{3,}")
_BEHIND = re.compile(r"(?i)\b(?:an?|the|this|each|every|no|its|their|your|one|which|of)\s+(\w+)(?:\s+(\w+))?")
"""What stands before a thing, and not before what is done."""


class _Words:
    """How often a text has each word: as it is spelled, in small letters, alone (in no path, address or option), and
    behind what stands before a thing. Counted once: a text has thousands of names."""

    def __init__(self, prose: str) -> None:
        self.spelled = Counter(re.findall(r"\w+", prose))
        self.small = Counter[str]()
        for word, number in self.spelled.items():
            self.small[word.lower()] += number
        self.alone = Counter(re.findall(r"(?<![\w/.@-])\w+(?![\w/@-])", prose))
        self.things = Counter(word.lower() for pair in _BEHIND.findall(prose) for word in pair)


def _is_no_name(mark: str, spellings: Mapping[str, int], words: _Words) -> bool:
    """Whether what looks like a name is none: a word that the text has rather in small letters than in capitals
    (`OUT`), what stands in commands alone (`--home DIR`), three letters of a pattern (`dEf`), the number of a rule
    (`E501`), and a verb in backticks (`read`)."""
    name = max(spellings, key=lambda spelling: spellings[spelling])
    if mark == "word":
        return _is_verb(name, spellings[name], words)
    if mark not in ("named", "mixed") and not (mark == "ticked" and name.isalpha() and name.isupper()):
        return False
    if name.isalpha():
        small = sum(words.alone[form] for form in {name.lower(), f"{name.lower()}s", name.capitalize()})
        if words.spelled[name] <= small and (small or (name.isupper() and mark == "named")):
            return True
    return (len(name) < 4 and not name.rstrip("s").isupper()) or bool(_RULE_NUMBER.fullmatch(name))


def _is_verb(name: str, ticked: int, words: _Words) -> bool:
    """Whether a text has a word rather without backticks, also as `reads` or `reading`, and hardly ever as `the read`.
    Of 91 words in backticks of 181 documents this leaves out read, start, link and let, and keeps model and fact."""
    name = name.lower()
    used, stem = words.small[name], name.removesuffix("e")
    if used <= ticked:
        return False
    ends = ("s", "es", "d", "ed", "ing")
    inflected = any(words.small[f"{stem}{twice}{end}"] for twice in ("", name[-1]) for end in ends)
    return inflected and words.things[name] * 8 < used


def _weightiest(
    document: Extracted, pieces: Sequence[Piece], found: Mapping[str, str], spelt: Mapping[str, Counter[str]]
) -> list[Named]:
    names = Names({key: key for key in found})
    within: Counter[str] = Counter()
    often: Counter[str] = Counter()
    for piece in pieces:
        counts = names.counted(document.text[piece.begins : piece.ends])
        often.update(counts)
        within.update(counts.keys())
    rows = [
        (_WEIGHT[mark] * (1 + min(within[key], 12)) ** 0.5 * (1 + min(often[key], 30)) ** 0.25, key)
        for key, mark in found.items()
        if often[key] >= (1 if mark in ("defined", "heading", "ticked") else 2)
    ]
    best = sorted(rows, key=lambda row: (-row[0], row[1]))[: max(3, min(MAX_CONCEPTS, 6 + len(pieces)))]
    described = definitions(document.text, {key for _weight, key in best}) if document.form != "code" else {}
    named = []
    for _weight, key in best:
        spelling = spelt[key].most_common(1)[0][0]
        named.append(
            Named(spelling, _type_of(spelling, found[key], document.form == "code"), (), described.get(key, ""))
        )
    return named


def _type_of(name: str, mark: str, code: bool) -> str:
    if mark == "defined" or (mark == "word" and code):
        return "entity" if name.rpartition(".")[2][:1].isupper() else "method"
    if mark in ("imported", "named") or _MIXED.match(name):
        return "entity"
    return "method" if "_" in name or "(" in name else "topic"


_IS = re.compile(r"^(?:an?|the)?\s*(.{2,60}?)\s*(?:\([^)]*\)\s*)?(?:is|are|means|refers to|denotes|stands for)\s", re.I)


def definitions(text: str, keys: Iterable[str]) -> dict[str, str]:
    """The first sentence of a text that says what a concept is (`X is …`), by its folded name."""
    wanted, said = set(keys), dict[str, str]()
    for sentence in sentences_of(text[:200_000]):
        match = _IS.match(sentence)
        if match and (key := folded(match[1].strip("`*_\"'"))) in wanted and key not in said and len(sentence) < 300:
            said[key] = sentence
    return said
