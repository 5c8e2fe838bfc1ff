"""Words of the English language that a stemmer does not know: those that say nothing, and those that change inside."""

from __future__ import annotations

from functools import cache

_SAYING_NOTHING = (
    "a about after also am an and any are as at be because been before being both but by can could d did do does doing "
    "don each few for from had has have having he her here hers him his how i if in into is it its just ll m me more "
    "most my no nor not of on only or other our own re s same she should so some such t than that the their theirs "
    "them then there these they this those to too ve very was we were what when where which while who whom whose why "
    "will with would you your yours"
)
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
"""Words of a question that are asked with, and not for. They count only where a query has no others."""

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

_SAYING_WHEN = (
    "yesterday today tomorrow ago last next week weekend month year recently soon since monday tuesday wednesday "
    "thursday friday saturday sunday january february march april june july august september october november "
    "december night morning day"
)
TIMES = frozenset(_SAYING_WHEN.split())
"""Words by which people say when."""


@cache
def forms() -> dict[str, tuple[str, ...]]:
    """A word that changes inside -> its other forms."""
    groups = [group.split() for group in _CHANGING.split("|")]
    return {word: tuple(one for one in group if one != word) for group in groups for word in group}
