"""A query as a list of terms. Whatever a user types is a query: there are no operators and no syntax errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from unicodedata import combining, normalize

from core.search.store import places_of
from core.search.when import Moment, moments_of
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, Stems, folded, forms, spaced, storable, words_of

if TYPE_CHECKING:
    import sqlite3

QUERY_CHARACTERS = 4000
TERMS = 64
FORM_WEIGHT = 0.7
MISSPELT = 4
"""A shorter word is not taken for another."""
PLURAL = 6
"""A shorter word is not taken for another one's plural. Of 2,151 slips in a word that was said in its other number
1,443 are set right so, 927 without; of 4,364 slips 3,248 and 3,259, 105 and 94 taken for a wrong one."""
NEAREST, TEXTS = 8, 5
"""So many stems that are spelled most like it are looked at, each with its words in so many texts. Of 1,369 words of
talks that stand nowhere in a part of them 187 were taken for another by their stems alone, 108 by whole words; of 4,364
words with a slip of the hand 3,118 and 3,259 were set right, 260 and 94 taken for a wrong one."""
AMONG_OTHERS = 3.0
"""How many times more a word in plain letters pulls in a question in another script that is seldom spoken here: it is a
name of code, of a file or a product, and the words around it are rare only because most sessions are in English."""
SPOKEN_HERE = 0.02
"""A script is not seldom where one word of the question stands in this part of all entries."""
SHORT, ENDING = 2, 4
"""Among several words of a name one of so few letters says nothing, nor does the last, behind a dot, of so few."""

_QUOTED = re.compile(r'"([^"]+)"')
_TIGHT = re.compile(r"\w[^\w\s]+\w|\w[+#]+|[.@#$/~-]+\w|_")
_SPLIT = re.compile(r'[\s"]')


@dataclass(frozen=True)
class Term:
    """One word that is looked for: `stems` with their weights (other forms of the word count less), how many entries
    have one (`found`), and how much it says (`worth`, the inverse document frequency of BM25), which counts so many
    `times` where entries are ranked and sentences chosen, and once where it is judged whether they answer. `typed` is
    the word that stands nowhere and was taken for this one, "" for none."""

    word: str
    stems: dict[str, float]
    found: int
    worth: float
    times: float = 1.0
    typed: str = ""

    @property
    def pull(self) -> float:
        """What it counts where entries are ranked."""
        return self.worth * self.times


@dataclass(frozen=True)
class Query:
    """What is looked for. `literal` is the whole of it, folded; `phrases` what stood in quotation marks. `exact` says
    that its spelling matters: it has characters that are no words, as in `C++` or `session_store.py`. `moments` are the
    dates that it names. `name` says that it is one name whose punctuation belongs to it. `likely` are words that were
    not asked for and that the answer probably has: they help to choose sentences, and say nothing of how well these
    fit. Of 351 points of 167 questions the first answers tell 198 by the question alone, 213 with such words."""

    text: str
    literal: str
    phrases: tuple[str, ...]
    words: tuple[str, ...]
    terms: tuple[Term, ...]
    exact: bool
    entries: int
    moments: tuple[Moment, ...] = ()
    name: bool = False
    likely: tuple[Term, ...] = ()

    @property
    def worth(self) -> float:
        """What an entry with every term would have."""
        return sum(term.worth for term in self.terms) or 1.0

    @property
    def pull(self) -> float:
        """The same where entries are ranked."""
        return sum(term.pull for term in self.terms) or 1.0


Between: TypeAlias = "Callable[[str, str], Iterable[Any]]"
Places: TypeAlias = "Callable[[Sequence[str]], tuple[int, dict[str, int]]]"
"""How many entries there are, and how many have each of these stems."""


def parse_query(text: str, database: sqlite3.Connection, stems: Stems, likely: str = "") -> Query:
    """Any text as a query against this index. A word that stands nowhere in it is taken for the one that is spelled
    most like it, where there is one. `likely` are words that the answer probably has."""
    between = "SELECT term, doc FROM stems WHERE term >= ? AND term < ? LIMIT 50000"
    having = (
        "SELECT e.title || ' ' || e.text FROM words JOIN entries e ON e.id = words.rowid WHERE words MATCH ? LIMIT ?"
    )

    def texts_with(stem: str) -> Iterable[str]:
        return (text for row in database.execute(having, (f'"{stem}"', TEXTS)) for text in row)

    query = query_of(text, partial(places_of, database), stems)
    query = spelled(query, lambda first, last: database.execute(between, (first, last)), texts_with, stems)
    if not likely or query.name:
        return query
    asked = {stem for term in query.terms for stem in term.stems}
    also = query_of(likely, partial(places_of, database), stems).terms
    return replace(query, likely=tuple(replace(term, times=1.0) for term in also if asked.isdisjoint(term.stems)))


def spelled(query: Query, between: Between, texts_with: Callable[[str], Iterable[str]], stems: Stems) -> Query:
    """The query with words that stand nowhere taken for those most like them, but for what stands in quotation marks
    and what another index has as it was typed. `between` gives the stems of the index from one to another, each with
    how many entries have it, `texts_with` some texts that have a stem."""
    if all(term.found for term in query.terms):
        return query

    kept = stems.as_typed.union(words_of(" ".join(query.phrases)))

    def right(term: Term) -> Term:
        stands = term.found or term.word in kept
        return term if stands else _spelled_alike(term, between, texts_with, stems, query.entries)

    return replace(query, terms=tuple(map(right, query.terms)))


def _spelled_alike(
    term: Term, between: Between, texts_with: Callable[[str], Iterable[str]], stems: Stems, entries: int
) -> Term:
    """The word of the index that begins like this one and differs in a letter, of a long one in two, also with its
    ending: "shopping" is no "show". The term itself where there is none, where words begin with it, and where it is no
    word but a number or a name with digits."""
    word = term.word
    if len(word) < MISSPELT or not word.isalpha() or not word.isascii():
        return term
    (stem,) = {stems.learn([word])[word]}
    most = 1 if len(stem) < 2 * MISSPELT - 1 else 2
    alike = list(between(word[:2], f"{word[:2]}\uffff"))
    if not alike or any(other.startswith(stem) for other, _ in alike):
        return term
    from rapidfuzz import process  # few words are misspelt
    from rapidfuzz.distance import OSA

    spelled_so = process.extract_iter(stem, [other for other, _ in alike], scorer=OSA.distance, score_cutoff=most)
    near = sorted((apart, -alike[at][1], other) for other, apart, at in spelled_so)
    for _, number, other in near[:NEAREST]:
        said = {one for text in texts_with(other) for one in words_of(text) if stems.learn([one])[one] == other}
        whole = [(_apart(word, one), one) for one in said]
        if (best := min(whole, default=(most + 1, "")))[0] <= most:
            worth = math.log(1 + (entries + number + 0.5) / (0.5 - number))
            return Term(best[1], {other: FORM_WEIGHT}, -number, worth, term.times, word)
    return term


def _apart(word: str, said: str) -> int:
    """By how many slips a word differs from one that was said, marks of letters and the "s" of a plural aside, where
    the rest of a longer one differs by one: "clinet" is "clients"."""
    from rapidfuzz.distance import OSA

    plain = "".join(letter for letter in normalize("NFD", said) if not combining(letter))
    apart = OSA.distance(word, plain)
    if len(word) >= PLURAL and word.endswith("s") != plain.endswith("s"):
        ending = OSA.distance(word.removesuffix("s"), plain.removesuffix("s"))
        return ending if ending <= 1 else apart
    return apart


def query_of(text: str, places_of: Places, stems: Stems) -> Query:
    """Any text as a query against what `places_of` counts."""
    text = storable(text[:QUERY_CHARACTERS]).strip()
    words = tuple(words_of(text)[: TERMS * 4])
    telling = [word for word in words if word not in STOP_WORDS and word not in FOREIGN_STOP_WORDS] or list(words)
    moments = moments_of(text)
    tight = bool(_TIGHT.search(text))
    # What is written without spaces is no name: each character of it is a word.
    name = bool(tight and words) and not (_SPLIT.search(text) or moments) and spaced(text) == text
    telling = _without_fragments(text, telling, moments, name=name)[:TERMS]
    changing = forms()
    known = stems.learn((*words, *(other for word in telling for other in changing.get(word, ()))))
    groups: dict[str, tuple[str, dict[str, float]]] = {}
    for word in telling:
        others = changing.get(word, ())
        group = {known[other]: FORM_WEIGHT for other in others} | {known[word]: 1.0}
        groups.setdefault(known[word], (word, group))
    wanted = dict.fromkeys(stem for _, group in groups.values() for stem in group)
    foreign = [known[word] for word in words if any(map(_is_other_script, word))]
    foreign = foreign if 2 * len(foreign) > len(words) else []
    entries, places = places_of(list(dict.fromkeys((*wanted, *foreign))))
    times = AMONG_OTHERS if foreign and max(places.get(one, 0) for one in foreign) < SPOKEN_HERE * entries else 1.0
    terms = []
    for word, group in groups.values():
        found = min(sum(places.get(stem, 0) for stem in group), entries)
        worth = math.log(1 + (entries - found + 0.5) / (found + 0.5))
        is_name = word.isascii() and not word.isdigit()
        terms.append(Term(word, group, found, worth, times if is_name else 1.0))
    literal = folded(text)
    unquoted = folded(text.replace('"', " "))
    return Query(
        text,
        literal if any(mark in literal for mark in "+#_./\\$@~-") or not words else unquoted or literal,
        phrases_in(text),
        words,
        tuple(terms),
        tight or not text.isascii() or not words,
        entries,
        moments,
        name,
    )


def _is_other_script(letter: str) -> bool:
    """Whether a letter is none of the Latin ones, with or without a mark."""
    return letter.isalpha() and ord(letter) >= 0x370 and not 0x1E00 <= ord(letter) < 0x1F00


def _without_fragments(text: str, words: Sequence[str], moments: Sequence[Moment], *, name: bool) -> list[str]:
    """The words without those that bring whatever shares them: the numbers of a date, which stand in the source of
    everything that was said on some 21st, and of a name an ending, a single letter, a number. What has the letters of
    the query as they were typed is found all the same."""
    dated = {form for one in moments for part in one if part for form in _forms_of_number(part)}
    kept = [word for word in words if word not in dated]
    if name and len(set(words)) == 1:
        return [word for word in kept if len(word) > 1]
    if name:
        ending = text.lower().rpartition(".")[2]
        kept = [word for word in kept if len(word) > SHORT and not word.isdigit()]
        return [word for word in kept if len(word) > ENDING or word != ending]
    return kept


def _forms_of_number(number: int) -> tuple[str, ...]:
    return str(number), f"{number:02}", *(f"{number}{end}" for end in ("st", "nd", "rd", "th"))


def phrases_in(text: str) -> tuple[str, ...]:
    """What stands in quotation marks, folded."""
    return tuple(phrase for phrase in map(folded, _QUOTED.findall(text)) if phrase)


def match_any(terms: Sequence[Term]) -> str:
    """The terms for the full-text table: any of them."""
    return " OR ".join(f'"{stem_word}"' for term in terms for stem_word in _spellings(term))


def match_all(terms: Sequence[Term]) -> str:
    """The terms for the full-text table: all of them."""
    return " AND ".join("(" + " OR ".join(f'"{one}"' for one in _spellings(term)) + ")" for term in terms)


def match_prefix(terms: Sequence[Term]) -> str:
    """Words that begin like a term that nothing has."""
    return " OR ".join(f'"{term.word}" *' for term in terms)


def _spellings(term: Term) -> list[str]:
    """Words that the tokenizer brings back to the stems of a term."""
    return [term.word, *forms().get(term.word, ())]
