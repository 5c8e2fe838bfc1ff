"""Secrets that a sentence tells, that a prompt was answered with, and that a command was asked to show.

What a table of names and signs cannot say is told by what people do with words: "changed from X to Y, same for the ftp
password"; "What is the passphrase?", and in the next turn the passphrase alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.base import late
from core.base.secrets.values import is_chosen, is_code, is_compound, is_phrase, is_placeholder, is_word

_REACH = 110
_WORD = late(r"[^*_\s\"'`“”„«»‹›「」『』()<>,;][^\s\"'`“”„«»‹›「」『』()<>]+")
_LEADS = late(
    r"(?i)(?:\b(?:is|was|are|just|from|to|be|been|with|use|used|uses|using|try|on|now|still|has|have|it's|its"
    r"|that's|as|auf|mit|ist|lautet|von"
    r"|bleibt|noch|jetzt|es|est|sera|c'est|avec|de|à|toujours|era|con|da|è|är|er|med|met|jest|to|z|na|это|с|на|и"
    r"|and|or|und|oder|et|ou|y|o)"
    r"|[:=/→「『«“-]|^)[ \t\"'`“«„「(*]{0,3}$"
)
_TRAILS = late(
    r"(?i)[\"'`”»」)*,;]{0,2}[ \t]{1,2}(?:as|for|is|als|ist|comme|pour|est|como|come|как|gesetzt)\b"
    r"|[\"'`”»」]{0,1}(?:という|です|で|이고|입니다)"
)
_SENTENCE = late(r"[.!?。](?=\s)|[。\n]")
_PROGRAM = late(r"[{}\\]|\)\s*[;{]|[\w\])]\(|\w=\w|::|=>|->|&&|\|\||</|//|\bdef \b|\breturn\b|\bimport\b")
_IS_CODE = late(
    r"(?:^|[^\w-])(?P<code>(?:[A-Z]-)?\d{4,8}|[A-Z0-9]{4}-[A-Z0-9]{4})[ \t]+(?:is|ist|est|es|è|-)[ \t]+(?:your|the"
    r"|my|ihr|dein|votre|tu|su|il tuo)\b[^\n.]{0,40}$",
    re.I,
)


_STRONGEST = late(
    r"(?!(?i:issue|pr|bug|ticket|mr|note|c|f)#)(?=\S*[A-Za-z]{2})(?=\S*\d)\w+[!#$%&*^]+\w+[!#$%&*]?$"
    r"|(?=\S*[A-Z])\w+\d!$"
)


def said_near(text: str, first: int, end: int, code: bool) -> tuple[list[tuple[int, int]], int]:
    """The words of the sentence around the name of a secret (from `first` to `end`) that are built like one and stand
    where a value does, and up to where it was gone through. Nothing in a line of a program."""
    begins = max(text.rfind("\n", max(0, first - _REACH), first) + 1, first - _REACH, 0)
    stop = text.find("\n", end, end + _REACH)
    stop = min(len(text), end + _REACH) if stop < 0 else stop
    if code:
        found = _IS_CODE.search(text, begins, first)
        return ([found.span("code")] if found else []), end
    if _PROGRAM.search(text, begins, stop) or text.count(" ", begins, stop) < 3:
        return [], end
    last = [cut.end() for cut in _SENTENCE.finditer(text, begins, first)]
    begins = last[-1] if last else begins
    cut = _SENTENCE.search(text, end, stop)
    stop = cut.start() if cut else stop
    words: list[tuple[int, int]] = []
    for word in _WORD.finditer(text, begins, stop):
        value = word[0].rstrip(".,;:*_")
        start = word.start()
        if first <= start < end:
            continue
        joined = len(value) > 11 and len(re.findall("[-_]", value)) > 1 and is_compound(value)
        if not joined and not is_chosen(value):
            continue
        if (
            (_STRONGEST.match(value) and not joined)
            or _LEADS.search(text, max(begins, start - 14), start)
            or _TRAILS.match(text, start + len(value))
        ):
            words.append((start, start + len(value)))
    return words, stop


# --- what a command was asked to show --------------------------------------------------------------------------------

_SHOWN = late(
    r"[ \t]*(?:[\w@~./:\\-]{0,60}[$#%❯»>]"
    r"|PS[^>\n]{0,80}>)[ \t]+(?P<command>[^\n]{3,400})\r?\n(?P<value>[^\s]{4,200})[ \t]*\r?(?:\n|$)",
)
_SHOWS = late(
    r"(?i)\b(?:cat|echo|printenv|show|get|decrypt|decode|base64|jq|read|view|find-generic-password|reveal|print"
    r"|lookup|head|tail|type|access"
    r"|get-content|op|bw|vault|gopass|pass)\b|-[dsw]\b"
)


def shown(text: str, names: list[int], name: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The one word that a command printed which names a secret (one of `names`) and shows something."""
    done = -1
    for place in names:
        if place < done:
            continue
        begins = text.rfind("\n", max(0, place - 460), place) + 1
        done = text.find("\n", place, place + 460)
        found = _SHOWN.match(text, begins) if done > 0 else None
        if found is None:
            continue
        command, value = found["command"], found["value"]
        if (
            _SHOWS.search(command)
            and any(one["p"] or one["k"] for one in name.finditer(command.lower()))
            and not is_placeholder(value)
            and not re.match(r"[-#$/.\[{<(|+*=]|\d{1,3}$|[\w./-]+:$|\w+://|[\w-]+\.\w{1,4}$", value)
            and (is_word(value) or not value.isalpha())
        ):
            yield found.span("value")


# --- what was asked for in the turn before ---------------------------------------------------------------------------

_ASKED_FOR = late(
    r"(?i)pass(?:word|phrase|code|wort)|\bpw\b|\bpwd\b|\bpins?\b|\bcredentials\b|\blogin\b|\bcode\b|\btoken\b"
    r"|\b(?:api|secret|access|private|license|wifi|security) ?keys?\b|\bkey\b"
    r"|secret|seed|mnemonic|recovery|one-time|\botp\b|authenticator|\d+ (?:letters|digits|words|characters)"
    r"|kennwort|zugang|schlüssel|mot de passe|phrase secr|identifiant"
    r"|contraseña|clave|senha|parola|парол|пин|ключ|код|hasło|heslo|lösenord|passord|wachtwoord|şifre|salasana|密码"
    r"|密碼|口令|パスワード|暗証|パス|비밀번호|암호|코드"
)
_ASKS = late(
    r"(?i)\?|？|\b(?:need|send|paste|enter|give|tell|provide|type|share|asks? for|waiting for|what|which|reply with"
    r"|let me know|bitte|schick|gib|brauche"
    r"|donne[rz]?|envoie|entrez|indique[rz]?|dime|necesito|introduce|dammi|serve|введи|пришли|нужен|нужно|stuur"
    r"|geef|podaj|skicka)\b|教えて|入力|请|請|알려|입력"
)
_POLAR = late(
    r"(?i)^\W*(?:do|does|should|shall|may|is|are|did|has|have|would you like|möchtest|soll|willst|voulez|veux"
    r"|quieres|vuoi)\b"
)
_HAND_OVER = late(
    r"(?i)\b(?:give|tell|send|share|paste|know|remember|show|provide|have the|handy|type|enter|kennst|connais|sabes)\b"
)
_NO_ANSWER = late(
    r"(?i)(?:yes|no|nope|yep|yeah|ok|okay|sure|none|skip|never ?mind|later|stop|cancel|idk|please|thanks|thank|you"
    r"|done|go|continue|wait|nothing|empty|default|same"
    r"|neither|both|either|first|second|ja|nein|oui|non|si|sí|да|нет|はい|いいえ|네|아니요|是|不|what|why|how|where|here|sorry"
    r"|hello|hi|hmm|right|correct|don't|dont|i)\W*$"
)
_ANSWER_LEADS = late(
    r"(?i)^\W*(?:(?:it'?s|its|it is|try|use|that'?s|the usual|usual|sure|ok|okay|yes|yeah|here|here you go|is"
    r"|should be|take|put|enter|das ist|es ist|ist|nimm|c'est|prends|es|usa|è|это|попробуй"
    r"|один|password|pw|pin|code|token|key|i think|otherwise|or|and|then|un|ja|oui|si|да)\b[\s,:;=–—-]*){0,4}"
)
_ITEM = late(r"^\s*(?:\(?\d{1,2}[).:]\s+|[-*•]\s+)?")
_ANSWER = 400


def asked(text: str) -> str:
    """What of a turn asks for a secret: its last sentences; "" where it does not, or only if there is to be one."""
    end = text[-600:]
    sentences = [one for one in re.split(r"(?<=[.!?。？])\s+|\n+", end) if one.strip()]
    named = [number for number, one in enumerate(sentences) if _ASKED_FOR.search(one)]
    if not named:
        return ""
    near = sentences[max(0, named[0] - 1) : named[-1] + 2]
    for one in near:
        if _ASKS.search(one) and (not _POLAR.match(one) or _HAND_OVER.search(one)):
            return end
    # A bare list ("Host, user, password.") in a short turn is a question as well.
    return end if len(text) < 60 and _ASKED_FOR.search(text) else ""


def given(question: str, text: str) -> list[tuple[int, int]]:
    """Where in an answer to `question` (see `asked`) the secret stands: words built like one, or the one word of a
    line. What the question offers, and what says yes or no, is none."""
    found: list[tuple[int, int]] = []
    lines = text[:_ANSWER].split("\n")
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    at = 0
    for number, line in enumerate(lines):
        item = _ITEM.match(line)
        begin = item.end() if item else 0
        words = line[begin:].strip()
        if words and words not in question:
            row = _Line(line, begin, words, number == 0, number == last)
            spans = next(spans for rule in _RULES if (spans := rule(row, question)) is not None)
            found += [(at + start, at + end) for start, end in spans]
        at += len(line) + 1
    return found


class _Line(NamedTuple):
    """A line of an answer. `words` are those behind the bullet or the number of an item, which ends at `begin`;
    `is_last`: no other line with words comes below it."""

    text: str
    begin: int
    words: str
    is_first: bool
    is_last: bool

    def span(self, value: str) -> tuple[int, int]:
        """Where words of it stand."""
        start = self.text.index(value)
        return start, start + len(value)


def _one_word(line: _Line, question: str) -> list[tuple[int, int]] | None:
    """`rosebud` as the whole answer or in its last line, `rosebud7` in any; a word in the first of several lines greets
    or says yes."""
    if len(line.words.split()) > 1:
        return None
    value = line.words if line.words.endswith(("!", "?")) else line.words.strip("\"'`.,")
    placed = line.is_last or not value.isalpha() or (line.is_first and not value.isascii())
    return [line.span(value)] if placed and _may_answer(value, question) and not _NO_ANSWER.match(value) else []


def _phrase(line: _Line, question: str) -> list[tuple[int, int]] | None:
    """`correct horse battery staple`; nothing that is said in a sentence, or, where a phrase was asked for, that
    refuses: `i do not have`."""
    named = bool(re.search(r"(?i)phras|words|seed|letters|wörter|mots", question))
    if len(line.words.split()) < 4 or not is_phrase(line.words, named):
        return None
    return None if (_SAYS_NO.match(line.words) if named else _TALK.search(line.words)) else [line.span(line.words)]


def _digits(line: _Line, question: str) -> list[tuple[int, int]] | None:
    """`482 913`, `4539 1488 0343 6467`."""
    return [line.span(line.words)] if re.fullmatch(r"\d{3}[ -]\d{3}|\d{4}(?: \d{4}){1,3}", line.words) else None


def _words(line: _Line, question: str) -> list[tuple[int, int]]:
    """Words built like a secret wherever they stand, `i think rosebud7 or rosebud8`, and a plain one where nothing else
    is said: `it's rosebud.`, `rosebud, thanks`, `admin rosebud` if a name and a password were asked for."""
    text, words = line.text, line.words.split()
    lead = _ANSWER_LEADS.match(text, line.begin)
    head = lead.end() if lead else line.begin
    asks_two = len(words) in (2, 3) and _TWO.search(question) is not None
    found: list[tuple[int, int]] = []
    for number, word in enumerate(_WORD.finditer(text, head)):
        value = word[0].rstrip(".,;:")
        end = word.start() + len(value)
        if not _may_answer(value, question):
            continue
        if is_chosen(value) or is_code(value) or _STRONG.match(value):
            found.append((word.start(), end))
        elif is_word(value) and not _NO_ANSWER.match(value):
            led = head > line.begin and _CLAUSE_END.match(text, end) is not None
            first = number == 0 and (led or (len(words) < 4 and text[end : end + 1] == ","))
            if first or (asks_two and word[0] == words[-1]):
                found.append((word.start(), end))
    return found


def _may_answer(value: str, question: str) -> bool:
    """Whether a word may be what was asked for: no placeholder, no address, none that the question offers."""
    return not (value in question or len(value) < 4 or is_placeholder(value) or _ADDRESS.match(value))


_RULES = (_one_word, _phrase, _digits, _words)
"""What of a line is a secret, [] where nothing is; None leaves the line to the next rule."""

_TWO = late(r"(?i)(?:user|login|name|benutzer|identifiant|usuario|mail)\w*,? (?:and|und|et|y|e|\+|/|&) ")
_ADDRESS = late(
    r"[^\n]*[\u3040-\u9fff\uac00-\ud7af]|[\w.+-]+@[\w-]+\.\w|(?:[\w-]+\.)+[a-z]{2,6}$|[~.]?/|\w+://"
    r"|\d{1,3}(?:\.\d{1,3}){3}"
)
_SAYS_NO = late(r"(?i)(?:i|you|we|it|please|can|don't|what|why|let|ask|use|there|no|not|never|yes)\b")
_TALK = late(
    r"(?i)\b(?:i|you|we|it|he|she|they|ich|du|wir|je|tu|nous|yo|io|don't|let's|can|please|is|are|was|ask|know|think"
    r"|use|the|this|that)\b"
)
_CLAUSE_END = late(r"[\"'”]?[ \t]*(?:[.,;:!)]|$)")
_STRONG = late(
    r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_!#$%^&*+=.~-]{8,200}$|[A-Z][a-z]+(?:_[A-Za-z]+)+$"
    r"|\S*[a-z]\S*[!#$%^&*]\S*[A-Za-z0-9]$"
)
