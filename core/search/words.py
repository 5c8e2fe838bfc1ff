"""How text becomes words, the same for what is stored and for what is asked.

SQLite's `porter unicode61` tokenizer does the work. Two things it cannot do are done before: scripts that are written
without spaces are parted into single characters, so that any part of them is a phrase, and emoji become words. Words of
the English language that a stemmer does not know are listed: those that say nothing, and those that change inside.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'"
"""`So` makes words of emoji. Marks stay inside words, as in Devanagari; accents are still taken off."""

_WORD = re.compile(r"[^\W_]+")
_KEPT = ("L", "N", "Mn", "Mc", "So", "Co")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303b\u3040-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\U00020000-\U0003ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


_JOINS = {"\u200d": " ", "\ufe0e": "", "\ufe0f": ""}
"""What holds the parts of an emoji together, or says how it should look."""


def spaced(text: str) -> str:
    """Text as it goes into the index: every character of an unspaced script or emoji stands alone. Plain ASCII, which
    is most of it, comes back as it is."""
    if text.isascii():
        return text
    text = storable(text)
    for join, instead in _JOINS.items():
        text = text.replace(join, instead)
    return _UNSPACED.sub(r" \g<0> ", text)


def storable(text: str) -> str:
    """Text that SQLite can hold: a lone surrogate becomes U+FFFD, a NUL a space."""
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    return text.replace("\0", " ") if "\0" in text else text


FEW_SIGNS = 40
"""Of no more kinds of signs each is replaced by itself: `str.translate` asks for each letter of the text."""


@cache
def _instead(letter: str) -> str:
    """What stands for a letter where words are parted: a space where the tokenizer takes it for one."""
    made = spaced(letter)
    return made if not made or unicodedata.category(made.strip() or " ").startswith(_KEPT) else " "


def words_of(text: str) -> list[str]:
    """The words of a text in lower case and in their order, before stemming."""
    if text.isascii():
        return _WORD.findall(text.lower())
    changed = {letter: made for letter in set(text) if (made := _instead(letter)) != letter}
    if len(changed) > FEW_SIGNS:
        return text.translate({ord(letter): made for letter, made in changed.items()}).lower().split()
    for letter, made in changed.items():
        text = text.replace(letter, made)
    return text.lower().split()


def folded(text: str) -> str:
    """Text for a literal comparison: one form of each letter, no case, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


class Stems:
    """Words to stems, by the very tokenizer of the index, each word looked up once in the life of a process. Words
    `as_typed` stand somewhere else, and are no slips of the hand where the index has none of them."""

    def __init__(self) -> None:
        self.as_typed: set[str] = set()
        self._known: dict[str, str] = {}
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(f"CREATE VIRTUAL TABLE words USING fts5(word, content='', tokenize=\"{TOKENIZER}\")")
        self._database.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")

    def learn(self, words: Iterable[str]) -> dict[str, str]:
        """A table that has at least these words."""
        known = self._known
        new = [word for word in set(words) if word not in known]
        if new:
            if len(known) > 200_000:
                known.clear()
                new = list(set(words))
            self._database.execute("INSERT INTO words(words) VALUES ('delete-all')")
            self._database.executemany("INSERT INTO words(rowid, word) VALUES (?, ?)", enumerate(new))
            for stem, row in self._database.execute("SELECT term, doc FROM stems"):
                known.setdefault(new[row], stem)
            for word in new:
                known.setdefault(word, word)
        return known

    def telling(self, words: Iterable[str], wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the words whose stems are `wanted`, each with what that has for it. Stemming leaves the first two
        letters as they are, but for a y that may become an i, so few are looked up: all took a tenth of `find`."""
        heads = tuple({head for stem in wanted for head in (stem[:2], stem[0] + stem[1:2].replace("i", "y"))})
        like = [word for word in set(words) if word.startswith(heads) or not word.isascii()]
        known = self.learn(like)
        return {word: wanted[known[word]] for word in like if known[word] in wanted}


_SAYING_NOTHING = (
    "a about after also am an and any are as at be because been before being both but by can could d did do does doing "
    "don each few for from had has have having he her here hers him his how i if in into is it its just ll m me more "
    "most my no nor not of on only or other our own re s same she should so some such t than that the their theirs "
    "them then there these they this those to too ve very was we were what when where which while who whom whose why "
    "will with would you your yours"
)
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
"""Words of a question that are asked with, and not for. They count only where a query has no others."""
_ELSEWHERE = (
    "che del della dello delle degli dei dal dalla nel nella nelle sulla gli il lo una uno quale quali quando perché "
    "perche abbiamo ho hai questo questa quella quello cui "
    "qué que cuál cual cuáles dónde donde cuándo cuando cómo como el los las unos unas del por para hemos esto esta "
    "en una hicimos "
    "où quand nous vous avons les des dans pour qui quel quelle quels quelles une du sur avec cette "
    "der das dem den ein eine einen einem und wir haben hatten welche welcher welches wann wie wo warum mit für auf im "
    "não qual quais onde foi foram são pelo pela também isso esse essa nosso nossa já "
    "и в во не ни на с со к ко о об от до из у за по при для без под над что чтобы как так где куда когда почему зачем "
    "кто чем чего какой какая какое какие сколько ли или но а же бы то это этот эта эти этом того тот мы нас нам наш "
    "наша наше наши нашем нашей наших он она они его ее её их был была было были есть если уже ещё еще теперь вместо"
)
FOREIGN_STOP_WORDS = frozenset(_ELSEWHERE.split())
"""The same of Italian, Spanish, French, German, Portuguese and Russian, without those that mean something in English:
in an index that is mostly English they would be rare words."""

_CHANGING = (
    "go goes went gone|buy bought|take took taken|see saw seen|make made|give gave given|get got gotten|come came|"
    "know knew known|think thought|feel felt|find found|tell told|become became|leave left|meet met|say said|"
    "begin began begun|run ran|write wrote written|speak spoke spoken|break broke broken|choose chose chosen|"
    "drive drove driven|eat ate eaten|fall fell fallen|fly flew flown|forget forgot forgotten|grow grew grown|"
    "hear heard|hold held|keep kept|lead led|learn learnt|lose lost|pay paid|ride rode ridden|rise rose risen|"
    "sell sold|send sent|sing sang sung|sit sat|sleep slept|spend spent|stand stood|swim swam swum|teach taught|"
    "throw threw thrown|understand understood|wake woke woken|wear wore worn|win won|build built|catch caught|"
    "bring brought|draw drew drawn|drink drank drunk|fight fought|hang hung|hide hid hidden|steal stole stolen|"
    "shake shook shaken|bite bit bitten|blow blew blown|deal dealt|dream dreamt|forgive forgave forgiven|"
    "freeze froze frozen|lend lent|mean meant|seek sought|shoot shot|sink sank sunk|stick stuck|strike struck|"
    "swear swore sworn|tear tore torn|bind bound|feed fed|bleed bled|breed bred|dig dug|light lit|shrink shrank|"
    "child children|person people|man men|woman women|foot feet|tooth teeth|mouse mice|life lives|wife wives|"
    "index indices|matrix matrices|vertex vertices|good better best|bad worse worst"
)


@cache
def forms() -> dict[str, tuple[str, ...]]:
    """A word that changes inside -> its other forms."""
    groups = [group.split() for group in _CHANGING.split("|")]
    return {word: tuple(one for one in group if one != word) for group in groups for word in group}
