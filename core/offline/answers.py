"""What was put to somebody in a coding session and what came back: questions, choices, proposals, plans.

An answer alone says nothing ("the second", "yes", "All of them"): here it stands with what was asked. That a choice was
made shows in structure: the record of a question, marks of a list, a plan that was approved and carried out, work that
followed a "yes". What is still open when the session ends is a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import Command, Commit, Edit, Plan, PullRequest, Push, Question
from core.offline import cues
from core.offline.closing import request_of, rows_of
from core.offline.exchanges import Exchange, found, subject_of
from core.offline.prose import Row, begun, by_person, clean, looks_like_code, sentences, whole
from core.offline.sessions import Session, is_change
from core.offline.statements import Found

MAX_ANSWERED = 3
MAX_DECISIONS = 3
LONGEST_ANSWER = 220

# --- questions of a tool ---

_ADVISED = re.compile(r"\s*\((?:recommended|empfohlen|推荐|推奨)\)", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:this|that|these|those|it)\b(?=\W*$|\s+(?:reliably|here|now|way|one|too)\b)", re.IGNORECASE)
"""A question about something that only the talk around it names."""
_IN_HAND = re.compile(
    r"\bthe (?:[\w-]+ )?(?:removal|fix|change|clean-?up|refactor(?:ing)?|rewrite|patch|task|step|finding|comment)\b",
    re.I,
)
"""Work that only the session knows by this name."""
_OF_STATE = re.compile(r"(?:can you|do you|did you|have you|are you|is it|does it|is there|did|has)\b", re.IGNORECASE)
_ALL = re.compile(
    r"^(?:all(?: of (?:the above|them|these))?|both(?: of them)?|beides?|以上全部|全部|両方)$", re.IGNORECASE
)


def find_answers(session: Session) -> Iterator[Found]:
    """A question that was put to the user is a decision with its answer, and open without one at the very end."""
    for turn, row in session.events:
        if not isinstance(row, Question):
            continue
        glued = len(row.asked) > 1 and len({answer for *_, answer in row.asked}) == 1
        for asked, options, answer in row.asked:
            question = clean(asked)
            # Where only a tool's record has the answer, its quote would pass for the tool's own word.
            quote = "" if glued or not _typed(session, answer) else answer
            given = _own_part(options, answer) if glued else clean(answer)
            vague = (_POINTS.search(question) or _IN_HAND.search(question)) and not cues.ANCHOR.search(question)
            if given and cues.PUT_OFF.search(given) and len(given) <= LONGEST_ANSWER:
                if not vague:
                    yield found("tasks_open", f"Put off: {question}", f"the person said: {given}", quote, 62, turn)
            elif given and len(given) <= 160 and not vague and not cues.NO_ANSWER.match(given):
                chosen, others = _chosen(_ADVISED.sub("", given), _ADVISED.sub("", options))
                kind = "facts" if _OF_STATE.match(question) and given not in options else "decisions"
                yield found(kind, f"{question} → {chosen}", others, quote, 75, turn)
            elif not answer and not row.answered and (turn, row) == session.events[-1]:
                detail = f"options: {options}" if options else ""
                yield found("questions", question, detail, "", 70, turn)


def _typed(session: Session, answer: str) -> bool:
    """Whether an answer stands in a message of the user."""
    return any(by_person(turn) and answer in turn.text for turn in session.conversation.turns)


def _own_part(options: str, answers: str) -> str:
    """Of the answers to several questions that stand in one line, those to the question with these options."""
    mine = [option for option in options.split(" | ") if option and option in answers]
    return clean(", ".join(mine))


def _chosen(given: str, options: str) -> tuple[str, str]:
    """The answer by its name, and what was not chosen."""
    names = [clean(name) for name in options.split(" | ") if name.strip()]
    others = [name for name in names if name != given and name not in given]
    if _ALL.match(given):
        named = [name for name in others if not _ALL.match(name)]
        return (", ".join(named) or given), ""
    return given, f"not: {'; '.join(others)}" if given in names and others else ""


# --- options in a message, chosen by their mark ---

_LISTED = re.compile(
    r"^[\s*_>#-]*(?:(?:option|variante?|choice|approach|alternative|opción|方案|选项|オプション|案|옵션)\s*)?"
    r"(?P<mark>[1-9]|[A-F])[.):：*]+\s*[*_]*\s*(?P<what>\S.{3,}?)\s*$"
    r"|^\|\s*\**(?P<cell>[1-9]|[A-F])\**\s*\|\s*(?P<row>[^|]{4,}?)\s*\|",
    re.IGNORECASE,
)
_PICK = re.compile(
    r"^(?:(?:let'?s|we'll|i'll|i'd|i|please|ok(?:ay)?,?|yes,?|go|going|do|take|use|pick|choose|prefer|like|want|with|"
    r"for|the|option|variante?|choice|approach|alternative|number|answer|nehmen wir|nimm|wir nehmen|prends|prenons|"
    r"on prend|elijo|usa|opción|la|die|das|#)\s+)*"
    r"(?:选|选择|就选|用|方案|选项|オプション|案|옵션)?\s*(?P<mark>[1-9]|[A-Fa-f])(?:案|番|号|번)?(?![\w.])"
    r"(?:(?:\s*[,.:;!?，。、–—-]+\s*|\s+(?=(?:but|because|since|please|and|with|as|aber|weil|bitte|mais|pero)\b))(?P<more>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"[?？]|\b(?:choose|prefer|pick|reply|which|welche|quelle?|cuál)\b|选择|哪|どちら|どれ|어느|어떤", re.I
)


def find_choices(exchanges: list[Exchange]) -> Iterator[Found]:
    """A letter or a number that answers a list of options: what stood behind that mark was chosen."""
    for at, row in enumerate(exchanges):
        picked = _PICK.match(row.text) if row.before and len(row.text) <= 160 else None
        if not picked or row.before is None or row.doubted:
            continue
        options, question = options_of(row.before.turn.text)
        what = options.get(picked["mark"].upper())
        if what and not question and _WORK.match(what):
            continue  # what was done next, not how
        if not what or len(options) < 2 or not _ASKS.search(row.before.turn.text):
            continue
        others = "; ".join(_short(text) for mark, text in options.items() if mark != picked["mark"].upper())
        last = exchanges[at - 1] if at and exchanges[at - 1].number > row.before.before else None
        wanted = request_of(last.text) if last else ""  # what the options answer, and nothing older
        if not (question or wanted):
            continue
        named = question or f"For “{wanted}”"
        why = f"{picked['more'].strip()}; " if picked["more"] and len(picked["more"]) > 12 else ""
        detail = f"{why}not: {others}"
        yield found("decisions", f"{named} → {_short(what)}", detail, row.text.split("\n")[0], 74, row.number)


def options_of(text: str) -> tuple[dict[str, str], str]:
    """The last list of options of a message by their marks, and the question above or below it ("" where none says
    what it is about)."""
    options: dict[str, str] = {}
    asked = ""
    for line in text.split("\n"):
        listed = _LISTED.match(line.strip())
        if listed:
            mark = (listed["mark"] or listed["cell"]).upper()
            if mark in ("1", "A"):
                options = {}
            options[mark] = clean(listed["what"] or listed["row"])
        elif line.rstrip(" *_").endswith(("?", "？")):
            last = clean(line.strip(" *_#>-")).strip("*_ ")
            if cues.ANCHOR.search(last) or len(last.split()) >= 5 or not last.isascii():
                asked = last if len(last) <= 200 else asked
    return options, asked


def _short(text: str) -> str:
    """What an option says before it explains itself."""
    first = re.split(r"(?<=[\w`)])(?:\s[–—-]\s|[:：]\s|(?<=[.。!])\s)", text, maxsplit=1)[0]
    return (first if len(first) >= 12 else text).strip(" .:*_?？—–-")


# --- points of a discussion that were agreed to ---

_TOPIC = re.compile(r"^\d+[.)]\s*")
_AGREES = re.compile(r"^(?:agree|easy|good|fair|yes|no|ok(?:ay)?|done|fixed|同意|好)\w*\b", re.IGNORECASE)


def find_agreed(session: Session) -> Iterator[Found]:
    """The points of a discussion that the user agreed to: each heading with what is said first below it."""
    turns = session.conversation.turns
    for closing in session.closings:
        if closing.changed:
            continue
        answer = next((turn.text.strip() for turn in turns[closing.number + 1 :] if by_person(turn)), "")
        if not answer or len(answer) > 60 or not cues.APPROVES.match(answer):
            continue
        agreed, topic = [], ""
        for row in rows_of(closing.turn, closing.number):
            if _is_heading(row):
                name = clean(row.text).strip("*:： ")
                fresh = _TOPIC.match(name) and cues.ANCHOR.search(name) and not cues.REVIEW_HEADING.search(name)
                topic = _TOPIC.sub("", name) if fresh else ""
                continue
            said = list(sentences(row))
            if not topic or not said or row.kind != "prose":
                continue
            text, about, topic = said[0].text, topic, ""  # what is said first below a heading
            if (
                text.endswith(("?", ":"))
                or cues.HEDGE.search(text)
                or cues.MONOLOGUE.match(text)
                or _AGREES.match(text)
            ):
                continue
            detail = " ".join(part.text for part in said[1:3])
            agreed.append(found("decisions", f"{about}: {text}", detail, said[0].quote, 64, closing.number))
        yield from agreed[:MAX_DECISIONS]


def _is_heading(row: Row) -> bool:
    return row.text.startswith("**") and row.text.endswith(("**", "**:"))


# --- the user's questions ---

_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|and|but|also|so|well|hmm|wait|oh|hey|可以|好的?|那么?|ja|aber|und|mais|et|pero|y)"
    r"[,，.!]?\s*(?=\S)(?<=[\s,，.!]))+|^(?:Q|Question|Frage|问)\s*[:：]\s*",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")
_TAIL = re.compile(r"(?<=[?？])[\W_]+$")
_ABOUT_TALK = re.compile(
    r"\b(?:this|that|it|these|those|they|them|here|there|you|your|me|my|i|again|still|yet)\b", re.IGNORECASE
)
# Asked of the moment, a request in the form of a question, or help that anybody else could give.
_OF_MOMENT = cues.one_of({
    "any": (
        r"\b(?:can|could|would|will|do|did|have|are|were) (?:you|u|i)\b", r"\b(?:do|should|must|if) i\b",
        r"\b(?:can|could|shall|should) we\b(?! (?:always|never|ever))", r"\b(?:see|check|look) (?:if|whether)\b",
        r"^(?:did|is|are|was|were|has|have) (?:it|this|that|everything|all|the (?:tests?|build|fix|change|error))\b",
        r"^does (?:it|everything|this (?:work|look|help|fix))\b", r"\bmake a difference\b",
        r"^what(?:'s| is| are| was| happened| did| do)? (?:next|left|up|wrong|you|the (?:status|error|problem))\b",
        r"^(?:how|what|where) (?:do|does|can|should|if) (?:i|we)?\b", r"^is there (?:a|any) way\b", r"^when\b",
        r"^(?:any|ready|done|really|sure|why not|what else|anything|which|let'?s)\b",
        r"\bneed to (?:fix|run|update|rebase|merge|commit|push|change|rename|re-?run)\b",
        r"^why (?:is|are|does|do|did) (?:this|that|it|you|they)\b",
        r"\b(?:fail\w*|broken?|errors?|crash\w*|tests? pass\w*)\b", r"^(?:kannst|könntest|könnten|würdest|magst)\b",
        r"^(?:tu |vous )?(?:peux|pouvez|pourrais|pourriez)\b", r"^¿?(?:me )?(?:puedes|podrías|puede|podría)\b",
        r"\beres\b", "哪些|什么地方|哪里|怎么|(?:能|可以|可不可以|能不能|麻烦|请)(?:你|给我|帮)",
        "(?:くれ|もらえ|いただけ)ます", "(?:줄|주실) 수|주세요|줄래",
    ),
})  # fmt: skip
_YES_NO = cues.one_of({
    "en": ("yes", "no", "yep", "nope", "correct", "exactly", "not (?:quite|really|necessarily)",
           "it (?:is|does|can|should)"),
    "de": ("ja", "nein"), "fr": ("oui", "non"), "es": ("sí",),
    "zh": ("是的?", "不是", "不", "可以", r"(?:\w{0,4})有必要", "没有必要"),
    "ja": ("はい", "いいえ"), "ko": ("네", "아니"),
}, begins=True)  # fmt: skip
_PRAISE = re.compile(
    r"^(?:(?:(?:that'?s a )?(?:good|great|excellent|fair|interesting) (?:question|point|catch|idea)|gute frage|"
    r"bonne question|buena pregunta|好问题|良い質問)\W+|(?:so|similarly|also|and|but)\b,? )+",
    re.IGNORECASE,
)
_NO_STATEMENT = re.compile(
    r"\blet me\b|\bI(?:'ll|'m| will| am)\b|^(?:before|after|found|done|now|please|here)\b|\b(?:all|the) tests? pass|"
    r"^`[^`]*[\s|;]|^(?:add|use|run|set|create|remove|update|change|check|store|call|pass|try|make)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^(?:what (?:is|are|does)|was (?:ist|sind)|qu'est-ce|qué (?:es|son)|什么是|.{1,12}是什么|.{1,16}とは)",
    re.IGNORECASE,
)
_LATIN = re.compile(r"(?<![A-Za-z])[A-Za-z][\w-]{3,}(?![A-Za-z])")
"""The same in a sentence of another script."""


def questions_in(text: str) -> Iterator[tuple[str, str]]:
    """The questions of a message about how things are or should be: what is asked, and the line as it stands."""
    for row in text.split("\n"):
        line = _TAIL.sub("", row.strip())
        for part in [line] if line.endswith(("?", "？")) and len(line) <= LONGEST_ANSWER else _ENDS.split(line):
            asked = _LEAD.sub("", part.strip())
            unbroken = not asked.isascii()
            if not asked.endswith(("?", "？") + (("吗", "呢", "か", "까") if unbroken else ())):
                continue
            if not (8 if unbroken else 20) <= len(asked) <= LONGEST_ANSWER or _OF_MOMENT.search(asked):
                continue
            if not unbroken and (len(asked.split()) < 5 or not (cues.ANCHOR.search(asked) or _names(asked))):
                continue
            yield asked, row.strip()


def _names(asked: str) -> bool:
    """Whether a question says what it is about, when nothing else is read."""
    return len(_telling(_ABOUT_TALK.sub("", asked))) >= (4 if _ABOUT_TALK.search(asked) else 3)


def find_answered(exchanges: list[Exchange], session: Session) -> Iterator[Found]:
    """A question of the user with what the assistant answered; left open where the answer puts it off, and where the
    session ends without one."""
    answered = []
    works = bool(session.commands) or any(is_change(row) for _, row in session.events)
    for row in exchanges:
        last = row is exchanges[-1]
        if row.replies and cues.CONCEDES.match(row.replies[0][1].text):
            continue  # no question, but a correction in its form
        for asked, quote in questions_in(row.text):
            if not works and not cues.OF_CODE.search(asked):
                continue  # a chat about the world
            answer = None if row.doubted else _answer(row, asked)
            if answer is not None:
                text, reason, at, line = answer
                if not cues.PUT_OFF.search(f"{text} {reason}") and not _borne_out(session, asked, text, at):
                    continue
                put_off = cues.PUT_OFF.search(f"{text} {reason}") is not None
                category = "questions" if put_off else "facts"
                answered.append(found(category, f"{asked} → {begun(text)}", reason, line, 57 + 3 * put_off, at))
            elif last and row.replies and not _touched(row, asked):
                detail = f"asked at the end of “{subject_of(session)}” and not answered"
                answered.append(found("questions", asked, detail, quote, 61, row.number))
    yield from answered[-MAX_ANSWERED:]


def _answer(row: Exchange, asked: str) -> tuple[str, str, int, str] | None:
    """The sentence that answers a question, the one behind it, its turn and its line; None where none does."""
    telling = _telling(asked)
    for number, turn in row.replies:
        rows = [part for part in rows_of(turn, number) if part.kind != "check"]
        for at, part in enumerate(rows[:6]):
            for sentence in sentences(part):
                text = _PRAISE.sub("", sentence.text).strip()
                direct = _YES_NO.match(text) is not None
                if text.endswith(("?", "？", ":", "：")) or _NO_STATEMENT.search(text) or looks_like_code(text):
                    continue
                if not (6 if not text.isascii() else 20) <= len(text) <= LONGEST_ANSWER:
                    continue
                if (cues.MONOLOGUE.match(text) and not direct) or (
                    cues.HEDGE.search(text) and not cues.PUT_OFF.search(text)
                ):
                    continue
                if cues.DANGLING.match(text) and not direct:
                    continue
                if not (cues.ANCHOR.search(text) or len(text.split()) > 6 or not text.isascii()):
                    continue
                if _DEFINES.match(asked) and not cues.OF_CODE.search(asked):
                    return None
                if direct or len(telling & _telling(text)) >= 2:
                    return text, _reason(rows, at, sentence.end), number, sentence.quote
    return None


def _borne_out(session: Session, asked: str, text: str, at: int) -> bool:
    """Whether an answer is about the user's own systems, stands in what a tool gave back before, and was not
    overtaken by later work: what an assistant says by itself anybody can ask again."""
    found_in = (*cues.OF_CODE.findall(asked), *cues.ANCHOR.findall(asked))
    found_in += () if asked.isascii() else tuple(_LATIN.findall(asked))
    names = [name.strip("`@()").casefold() for name in found_in]
    shown = "\n".join(turn.text for turn in session.conversation.turns[: at + 1] if turn.role == "tool").casefold()
    if not names or not any(name in shown for name in names) or not session.bears_out(f"{asked} {text}"):
        return False
    return not session.rewritten(at, f"{asked} {text}")


def _reason(rows: list[Row], at: int, end: int) -> str:
    """The sentences behind an answer, in its paragraph or the next row."""
    behind = [said.text for said in sentences(rows[at]) if said.start >= end][:2]
    behind += [whole(part).text for part in rows[at + 1 : at + 2] if not behind or len(behind[0]) < 30]
    reasons = [text for text in behind if not (text.endswith(("?", ":", "：", "？")) or cues.OFFER.search(text))]
    reasons = [text for text in reasons if not (cues.MONOLOGUE.match(text) or _NO_STATEMENT.search(text))]
    return " ".join(reasons) if sum(map(len, reasons)) <= 2 * LONGEST_ANSWER else reasons[0]


_WORD = re.compile(r"[A-Za-zÀ-ÿ_][\w.-]{3,}|[぀-ヿ一-鿿가-힣]{2}")
_USUAL = frozenset({
    "this", "that", "with", "have", "does", "what", "when", "where", "which", "there", "their", "them", "then", "than",
    "from", "into", "also", "need", "should", "would", "could", "will", "must", "just", "like", "want", "know", "think",
    "make", "sure", "your", "ours", "they", "only", "some", "more", "been", "were", "here", "about", "using", "used",
})  # fmt: skip


def _telling(text: str) -> set[str]:
    """The words of a text that name things, cut to their stems."""
    return {word.casefold().strip(".-")[:6] for word in _WORD.findall(text) if word.casefold() not in _USUAL}


def _touched(row: Exchange, asked: str) -> bool:
    """Whether the replies speak of what a question names."""
    telling = _telling(asked)
    said = (
        sentence.text for number, turn in row.replies for part in rows_of(turn, number) for sentence in sentences(part)
    )
    return any(telling & _telling(text) for text in said)


# --- options that nobody chose from ---

_OPTION = re.compile(r"^\W*Option\s+(?:\d|[A-Z])\b\W*\s*(?P<what>[^\n*]{8,100}?)\**\s*(?:\([^)]*\))?:?$", re.IGNORECASE)


def find_undecided(session: Session) -> Iterator[Found]:
    """Options that the last message puts to the user, who did not choose any more."""
    closing = session.closings[-1] if session.closings else None
    if closing is None or not closing.at_end or "?" not in closing.turn.text[-400:]:
        return
    options = [clean(row["what"]) for line in closing.turn.text.split("\n") if (row := _OPTION.match(line.strip()))]
    if not 2 <= len(options) <= 6:
        return
    statement = f"Not decided at the end of “{subject_of(session)}”: {'; or '.join(options)}?"
    asks = [line.strip() for line in closing.turn.text.split("\n") if "?" in line]
    yield found("questions", statement, "", asks[-1], 62, closing.number)


# --- plans, and decisions that stand below such a heading ---

_HEADING = re.compile(r"^#{1,3}\s+(?:Plan:?\s+|Implementation Plan:?\s+)?(.+?)\s*#*$", re.MULTILINE | re.IGNORECASE)
_STEP = re.compile(
    r"^(?:#{2,4}\s+|\s{0,2}(?=\d))(?:Step\s+)?(?P<number>\d{1,2})[.):]\s+(?P<what>\S.+?)\s*$", re.MULTILINE
)
_PATH = re.compile(r"`(?P<path>[\w./-]*\w\.[a-z]{1,5})(?::\d[\d-]*)?`")
_LABELLED = re.compile(r"^\*\*(?P<label>[^*\n]{3,120})\*\*(?P<more>.*)$", re.DOTALL)
_SENDS = re.compile(
    r"^(?:reply|respond|comment|answer|push|commit|open|create|post|update)\b.{0,60}\b"
    r"(?:PR|pull request|issue|ticket|comment|commit|branch|push)\b",
    re.IGNORECASE,
)


_CONTRAST = re.compile(
    r"\b(?:not|no|instead of|rather than|over|vs|nicht|statt|pas|en vez)\b|而不|ではなく|대신", re.IGNORECASE
)
"""What was weighed against something else says more than what was simply done."""
_WORK = re.compile(
    r"(?:create|add|implement|update|fix|refactor|write (?:a|an|the|tests?)|extend|modify|change|switch)\b",
    re.IGNORECASE,
)


def find_plans(session: Session) -> Iterator[Found]:
    """The last plan: approved and carried out it is a decision with its reason, else an open task."""
    plans = [(turn, row) for turn, row in session.events if isinstance(row, Plan) and row.text.strip()]
    if not plans:
        return
    turn, plan = plans[-1]
    heading = _HEADING.search(plan.text)
    title = clean(heading[1]) if heading else ""
    if not title or cues.GENERIC_TITLE.fullmatch(title):
        return
    edits = [row for at, row in session.events if at >= turn and isinstance(row, Edit) and not row.refused]
    why = cues.first_sentence(_section(plan.text, cues.CONTEXT)[1])
    if plan.approved and edits:
        name, body = _section(plan.text, cues.APPROACH)
        how = name.partition(": ")[2] or cues.first_sentence(body)
        if how and not _WORK.match(how):
            yield found("decisions", how, f"{title}. {why}" if why else title, "", 70, turn)
        chosen = list(_chosen_below(rows_of(Turn("assistant", plan.text), turn)))
        against = [row for row in chosen if _CONTRAST.search(row[0])]
        for text in (against or chosen[:1])[:MAX_DECISIONS]:
            yield found(
                "decisions", text[0], f"decided in the plan “{title}”, which was carried out", text[1], 67, turn
            )
        yield from _not_carried_out(session, turn, plan, title, edits)
    elif plan.approved is not True and not edits:
        yield found("tasks_open", f"Planned and not carried out: {title}", why, "", 65, turn)


def find_chosen(session: Session) -> Iterator[Found]:
    """What stands below a heading of decisions in a closing message, of work that was done and not contradicted."""
    chosen = []
    for closing in session.closings:
        if closing.refuted or closing.overtaken or not closing.changed:
            continue
        for text, quote in _chosen_below(rows_of(closing.turn, closing.number)):
            chosen.append(found("decisions", text, f"in “{subject_of(session)}”", quote, 64, closing.number))
    yield from chosen[-MAX_DECISIONS:]


def _chosen_below(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """The items below a heading of decisions that say what was chosen: a label with its reason, or a sentence."""
    for row in rows:
        if row.kind != "bullet" or not cues.DECISIONS.match(row.heading):
            continue
        item = whole(row)
        labelled = _LABELLED.match(row.text)
        text = clean(f"{labelled['label'].rstrip(':')}{labelled['more']}") if labelled else item.text
        text = re.sub(r"^([^:]+?)\s+[—–-]\s", r"\1: ", text) if labelled else text
        if labelled and ":" not in text and not labelled["more"].strip():
            continue
        if 30 <= len(text) <= 300 and not text.endswith(("?", ":")) and not cues.HEDGE.search(text):
            yield text, item.quote


def _not_carried_out(session: Session, turn: int, plan: Plan, title: str, edits: list[Edit]) -> Iterator[Found]:
    """Numbered steps of an approved plan of which nothing was done: no file that they name was touched, nor named in a
    command; nothing was sent where they send something."""
    steps = list(_STEP.finditer(plan.text))
    written = " ".join(row.path for row in edits)
    ran = " ".join(row.words for at, row in session.events if at >= turn and isinstance(row, Command))
    sent = any(at >= turn and isinstance(row, Commit | Push | PullRequest) for at, row in session.events)
    sent = sent or re.search(r"\bgh (?:pr|issue|api)\b", ran) is not None
    left = []
    for at, step in enumerate(steps):
        body = plan.text[step.start() : steps[at + 1].start() if at + 1 < len(steps) else len(plan.text)]
        paths = {row["path"].rsplit("/", 1)[-1] for row in _PATH.finditer(re.split(r"^#{1,2} ", body, flags=re.M)[0])}
        what = clean(step["what"]).rstrip(":")
        if paths and not any(path in written or path in ran for path in paths):
            left.append((what, min(paths)))
        elif not paths and _SENDS.match(what) and session.paired and not sent:
            left.append((what, ""))
    if left and len(left) < len(steps):
        for what, path in left[:2]:
            named = "" if path in what else f" (`{path}`)"
            text = f"Of the plan “{title}” one step was not carried out: {what}{named}"
            yield found("tasks_open", text, "", "", 58, turn)


def _section(text: str, names: re.Pattern[str]) -> tuple[str, str]:
    """The first heading of these names, and what stands below it up to the next heading."""
    parts = re.split(r"^#{1,4}\s+(.+?)\s*$", text, flags=re.MULTILINE)
    for name, body in zip(parts[1::2], parts[2::2], strict=False):
        if names.search(name):
            return clean(name), body.strip()
    return "", ""
