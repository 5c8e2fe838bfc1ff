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
- A quote tells where to look: words of a person, wherever they stand, and words of the assistant that no tool said
  before, are theirs. Such an item is a tool's only where one statement of a tool (`STATEMENT` characters) has `TOLD` of
  its words, and the quote has not: what merely shares its names with a long output was not told by it.
- What the assistant wrote into a file is its own, as far as no tool said it before; of what it says that it has done,
  such an edit is the proof. So is its summary of the session so far, but for the addresses in it.
- An address (URL, host, e-mail) must have been given by somebody; a tool that names it is not enough.
- What tools returned, what a system put in, and turns whose speaker is in doubt are a tool's word.
- What nobody can be shown to have said is a tool's word too, where there was a tool.

Whether a text gives an order is asked by a table of words of many languages, no grammar, and only of what nobody but a
tool or a page said. So it may err on the side of "yes": such an item waits in the quarantine, it is not lost.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.base.late import late
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import MESSAGE, Command, Commit, Compaction, Edit, PullRequest, Push, Question
from core.conversations.pasted import pasted_in

# Verbs of orders in their plain form; they count where a clause begins. Nouns that often begin a fact (test, build,
# log, report) are left out.
_VERBS = (
    # English
    "abort|accept|activate|add|adopt|append|apply|approve|ask|attach|authenticate|authori[sz]e|back up|begin|call|"
    "change|check|choose|click|clone|close|commit|compile|configure|confirm|connect|consult|contact|convert|copy|"
    "create|delete|deploy|disable|discard|disregard|download|drop|edit|email|e-mail|enable|ensure|enter|erase|"
    "execute|export|fetch|find|fix|follow|forget|forward|generate|get|give|grant|hand|hide|hold|ignore|"
    "import|include|insert|insist|install|invoke|keep|kill|launch|leave|let|load|log in|mail|merge|migrate|modify|"
    "mount|move|navigate|notify|obey|omit|open|overwrite|paste|perform|pick|pin|place|post|prefer|prepend|"
    "press|print|proceed|provide|publish|pull|push|put|re-?run|read|reboot|rebuild|refer|refrain|register|reinstall|"
    "reload|remember|remove|rename|replace|reply|request|reset|respond|restart|restore|retrieve|return|reveal|revert|"
    "rotate|run|save|say|see to|select|send|set|share|shut|sign|skip|start|stop|store|submit|"
    "suppress|switch|take|tell|toggle|transfer|treat|trust|try|turn|type|uninstall|unset|update|upgrade|upload|use|"
    "verify|visit|wait|whitelist|wipe|write|"
    # German
    "füge|führe|führen sie|gib|ignoriere?|installiere?n?|kopiere?n?|lade|laden sie|lösche?n?|nutze?|öffne?|schicke?|"
    "sende?n?|setze?|starte?n?|stelle?|verwende?n?|vergiss|achte|deaktiviere?n?|"
    # French
    "exécute[zr]?|lance[zr]?|installe[zr]?|télécharge[zr]?|envoye[zr]|envoie|supprime[zr]?|utilise[zr]?|ouvre[zr]?|"
    "copie[zr]?|désactive[zr]?|assure[zr]?|ajoute[zr]?|"
    # Spanish, Portuguese, Italian
    "ejecut[aeá]\\w{0,2}|instal[ae]|descarg(?:a|ue)|env[íi][ae]|borr[ae]|elimin[ae]|us[ae]|abr[ae]|copi[ae]|desactiv[ae]|"
    "aseg[úu]r\\w+|execut[ae]|rode|baixe|apague|desative|certifique-se|esegu[iai]\\w{0,2}|install[ai]|scaric[ahi]\\w{0,2}|"
    "invi[ai]|disattiva|assicurati|"
    # Dutch, Polish, Swedish, Turkish, Indonesian, Vietnamese
    "voer|installeer|verwijder|stuur|gebruik|zorg|uruchom|zainstaluj|usuń|wyślij|użyj|pobierz|kör|installera|skicka|"
    "jalankan|pasang|kirim|hapus|hãy|chạy|"
    # Russian, Ukrainian
    "запуст\\w+|выполни\\w*|установи\\w*|скача\\w+|отправ\\w+|удали\\w*|используй\\w*|отключи\\w*|запустіть|виконайте|"
    "надішліть"
)
_LEADS = (
    "please|kindly|always|never|do not|don't|dont|first|next|then|now|also|finally|just|simply|immediately|and|or|to|"
    "afterwards|before that|you|agents?|assistants?|bitte|immer|nie|zuerst|dann|veuillez|toujours|ne|por favor|siempre|"
    "nunca|sempre|per favore|altijd|proszę|zawsze|пожалуйста|всегда|никогда|сначала|затем"
)
_BEGINS = late(
    rf"(?:^|[.!?:;,•→\"“„«»—–>]\s|\s-+\s|\b\d{{1,2}}[.)]\s|[\"“„«])[\s*_\"'“„«]*"
    rf"(?:(?:{_LEADS})\b,?\s+){{0,3}}(?:{_VERBS})(?![\w'’])"
)
# A verb of an order behind a clause that says when: "before each deploy set X". What stands in front of some words is
# something else ("before you run it", "after the build starts").
_OPENERS = (
    "before|after|when|whenever|while|once|until|unless|if|as soon as|on|upon|in|for|with|at|during|each time|"
    "every time|vor|nach|bei|wenn|bevor|nachdem|sobald|falls|im|auf|avant|après|quand|lorsque|dès|si|pour|lors|"
    "chaque fois|antes|después|cuando|al|para|cada vez|depois|quando|se|ao|sempre que|prima|dopo|appena|ogni volta|"
    "voor|na|als|zodra|wanneer|przed|po|gdy|kiedy|jeśli|före|efter|när|om|"
    "перед|после|когда|если|при|как только|после|коли|якщо"
)
_NO_ORDER_BEHIND = (
    "do|does|did|you|we|i|they|it|to|the|an?|this|that|each|every|any|no|of|next|first|last|new|and|or|its|your|our|can|will|may|not|"
    "users?"
)
_ONE_WORD = r"[^\s,.!?:;]+"
_WHEN = late(
    rf"(?:^|[.!?:;•→\"“„«—–>-]\s|\b\d{{1,2}}[.)]\s)[\s*_\"'“„«]*(?:{_OPENERS})\b(?:[ ,]+{_ONE_WORD}){{0,7}}?"
    rf"[ ,]+(?!(?:{_NO_ORDER_BEHIND})[ ,]){_ONE_WORD}[ ,]+"
    rf"(?:{_VERBS})\s+(?!(?:is|are|was|were|do|does|did|has|ha|will|ist|est|es|é|è)\b)(?=\S)"
)
# A command behind the words that say when it is to be run.
_COMMANDS = late(
    r"[,:;—–]\s{1,3}[`\"']?(?:sudo |\$ )?(?:bash|sh|cd|chmod|curl|wget|docker|echo|git|go|make|node|npm|npx|pip3?|"
    r"pipx|pnpm|powershell|python3?|rm|scp|source|ssh|uvx?|yarn|cargo|brew|apt(?:-get)?)\s+\S"
    r"|[,:;—–]\s{1,3}[`\"']?(?:\./|~/)\w"
)
# Words that oblige, wherever they stand.
_OBLIGES = late(
    r"\b(?:must|should|shall|ought to|ha(?:s|ve) to|needs? to|(?:is|are) to(?= \w)|(?:is|are|be) "
    r"(?:required|supposed|expected|obliged|obligated|advised|recommended|instructed|encouraged|asked|told) to|"
    r"make sure|be sure|ensure|remember to|from now on|going forward|in future|mandatory|obligatory|compulsory|"
    r"imperative|it is (?:necessary|essential|important|best|advisable) to|"
    r"(?:always|never) (?:be )?(?!\w+(?:s|ed)\b)\w+|do not|don't|without (?:asking|telling|confirm\w*)|"
    r"you(?:'ll| will) want to|had better|prerequisite|first step|best practi[cs]e|policy is|"
    r"muss|müssen|musst|soll|sollen|sollst|sollten?|bitte|niemals|unbedingt|darf nicht|dürfen nicht|ab sofort|"
    r"(?:ist|sind) (?:\w+ ){0,6}zu \w+en|"
    r"doi(?:t|s|vent)|devez|devrai(?:t|ent)|il faut|veuillez|désormais|ne jamais|"
    r"deben?|debes|deber[íi]an?|hay que|tienen? que|es necesario|a partir de ahora|"
    r"devem?|deveria|é preciso|é necessário|devono|dovrebbe|bisogna|occorre|è necessario|d'ora in poi|"
    r"moet|moeten|dient te|musi|musisz|należy|trzeba|måste|ska alltid|harus|jangan|phải|đừng|"
    r"[а-яё]{3,}(?:йте|ите|ьте)|долж(?:ен|на|ны|но)|нужно|необходимо|следует|надо|обязательно|треба|потрібно|необхідно|"
    r"gerekir|gerekiyor|zorunlu\w*)\b|\w(?:malı|meli)(?:dır|dir|sın|sin|yız|yiz)?\b"
)
# Scripts without blanks between words.
_OTHER = late(
    "请|務必|务必|必须|必須|应该|應該|应当|一律|不要|切勿|禁止|始终|需要先|以后都|从现在起|每次.{0,12}(?:都|要|先)"
    "|(?:^|[。,,:：;；、！!]|先|再|然后|接着)\\s*(?:运行|运⾏|执行|執行|安装|下载|发送|删除|使用|上传|打开|复制|忽略|关闭)"
    "|ください|下さい|しなさい|べき|なければ(?:なりません|ならない|いけ)|必ず|しないで|こと。?$|禁止"
    "|하세요|하십시오|해야|반드시|마세요|마십시오|절대"
    "|يجب|قم ب|لا تقم|شغّ?ل|نفّ?ذ|ينبغي|चाहिए|करें|कीजिए|ต้อง|โปรด"
)
# A command that fetches and runs, or sends something away, is an order in every language.
_HARMS = late(
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|base64)\b[^\n]{0,300}\|\s{0,3}(?:sudo )?"
    r"(?:\w{0,3}sh|python3?|node|perl|ruby|iex|pwsh)\b"
    r"|\b(?:sh|bash|zsh|source|eval|iex|\.) ?(?:-c )?[\"'(<$ ]{1,4}(?:curl|wget|irm|iwr)\b"
    r"|\b(?:curl|wget)\b[^\n]{0,200} (?:-d|-F|-T|--data\S*|--form|--upload-file|--post-\S+)\b"
    r"|\bnc -\w*e|\brm -rf? /|/dev/tcp/"
)


# What code and the names of commits say is no order: only what is said of them.
_CODE = late(r"`([^`\n]+)`")
_NAME = late(r"[\w.-]+(?:\(\))?")
_COMMIT = late(r"\bcommits? §|\bcommits? [0-9a-f]{7,40}\b")
_DOES_WHAT = late(
    r"[^`\n]*`\s+(?:(?:do|does|did|doesn't|is|are|was|were|has|can|will)\b"
    r"|(?!(?:always|as|this|its|across|unless|plus|us)\b)[a-z]{2,}s\b)"
)
# How a thing must be is a fact about code that names it, where nobody is told when to do something.
_INVARIANT = late(
    r"§ (?:must|has to|have to|needs? to)(?: not)? be "
    r"(?:set|given|present|unique|sorted|valid|an?|in|at|one|absolute|relative)\b(?! to\b)"
    r"|\b(?:must|has to|have to|needs? to)(?: not)? (?:be (?:listed|named|declared|sorted|unique|one of)"
    r"|match|equal|contain|inherit|implement|return)\b(?: \w+){0,3} §"
)
_OCCASION = late(r"\b(?:before|after|when|whenever|while|until|each|every time|always|first|prior|during|now)\b")


def is_order(text: str, *, commands: bool = True) -> bool:
    """Whether a text, or a clause of it, tells somebody to do something. `commands`: a command behind a colon or a dash
    is to be run."""
    low = text.casefold()
    said = _COMMIT.sub("§", _CODE.sub(_without_code, low))
    if not _OCCASION.search(said):
        said = _INVARIANT.sub("§", said)
    if any(form.search(said) is not None for form in (_BEGINS, _WHEN, _OBLIGES, _OTHER)) or _HARMS.search(low):
        return True
    found = _COMMANDS.finditer(low) if commands else ()
    return any("`" not in one[0] or not _DOES_WHAT.match(low, one.end()) for one in found)


def _without_code(found: re.Match[str]) -> str:
    """`§` for code in marks, and `§ …` for more than a name; an order in such marks stays as it is."""
    inside = found[1]
    begins = _BEGINS.search(inside) if len(inside.split()) > 2 else None
    if begins or _WHEN.search(inside) or _OBLIGES.search(inside) or _OTHER.search(inside):
        return found[0]
    return "§" if _NAME.fullmatch(inside) else "§…"


# What the user wants, in the words of somebody else: told by a tool, it would guide as an order does.
_WANTS = late(
    r"\b(?:the |our |this )?(?:users?|person|developer|owner|maintainers?|human|operator|team|we|i) (?:\w+ ){0,3}?"
    r"(?:prefer|want|like|wish|expect|insist|ask|require|approve|agree|allow|decide|accept|trust)(?:s|d|ed)?\b"
    r"|\b(?:nutzer|benutzer|utilisateur|usuario|utente|gebruiker|użytkownik|пользовател\w+)\b|ユーザー|用户|使用者|사용자"
)


def guides(text: str, *, commands: bool = True) -> bool:
    """Whether a text would guide who reads it: it gives an order (see `is_order`), or says what the user wants."""
    return is_order(text, commands=commands) or _WANTS.search(text.casefold()) is not None


# How an assistant says that it only reads out what somebody wrote.
_READS_OUT = late(
    r"\b(?:page|site|website|readme|docs?|documentation|file|output|tool|result|article|post|comment|issue|guide|text|"
    r"message|error|log|server|response|instructions?|script|notes?|report|it|author|section|ticket|email|helper|sub-?agent|reviewer|seite|datei|"
    r"ausgabe|anleitung|fichier|sortie|página|archivo|страница|файл)s?\b[^.!?\n]{0,60}?(?<!which )\b(?:say|tell|"
    r"ask|suggest|recommend|instruct|"
    r"claim|advise|state|mention|want|direct|request|require|read|propose|prescribe|demand|urge|note|contain|report|sagt|sagen|"
    r"schreibt|verlangt|empfiehlt|fordert|steht|dit|demande|recommande|indique|dice|pide|recomienda|говорит|просит|требует)\w{0,3}\b(?![/._-]\w)"
    r"|\b(?:according to|as per|per the|quoting|quote[sd]?|it reads|laut|gemäß|selon|d'après|según|согласно|secondo)\b"
    r"|根据|按照|要求|(?:文档|页面|网页|网站|文件|说明|工具|输出|报告|日志|官方|作者|它)[^。！？\n]{0,20}建议|提到|写着|によると|と書|に従",
    re.IGNORECASE,
)


# A name, and what it wants: "Rowlib wants", "@mfox says". Not what the person or the assistant wants.
_NAMED = late(
    r"(?<![\w-])`?@?([A-Z][\w.-]{1,40}|[a-z]+[A-Z]\w{1,40}|[\w-]+[./_][\w./-]{1,40}|[\w-]+-[\w-]{1,40})`? "
    r"(?:also |now |only )?(?:wants?|asks?|requires?|recommends?|suggests?|says?|tells?|instructs?|demands?|insists?|"
    r"advises?|expects?|needs?|proposes?|prescribes?|mandates?|calls for|would like|claims?|states?)\b"
)


def reads_out(sentence: str) -> bool:
    """Whether a sentence of an assistant says that these are another's words."""
    return _READS_OUT.search(sentence) is not None


def speaks_for(sentence: str) -> str:
    """The name of a product or somebody of whom a sentence says what they want, "" for none."""
    found = _NAMED.search(sentence)
    return found[1] if found else ""


PASSAGE = 600
STEP = PASSAGE // 2
ECHO = 0.5
RATIO = 0.75
STATEMENT = 200
"""What a tool says stands within so many characters; a longer stretch only has the same words."""
TOLD = 0.67
"""So much of nearly every planted order stands in one statement of a tool, and of little that others said."""
LEAST_OF_STEP = 0.6
"""A step of rarer words than this is judged; `see above` is anybody's."""
KNOWN = 0.2
"""Where less of a text stands anywhere in the conversation, nobody can be shown to have said it."""
NOTHING_FOREIGN = 400
"""So much of a system's turn, such as a title, is no text that could have been paraphrased. In characters."""
ECHO_OF_QUOTE = 0.8
"""A quote of the assistant of which so much stood in one statement of a tool is no word of its own."""
LEAST_WORDS = 3
"""A sentence of fewer plain words is compared by its paths and options as well."""
DONE = 0.3
"""So much of a deed that the assistant tells of stands in the files that it wrote."""
MOST_ECHOES = 50
"""So many passages of the assistant are looked at, the best first."""
GOVERNED = ("decisions", "playbooks", "tasks_open", "tasks_done")
"""Categories whose items are followed, not only read: what counts as done is not done, or looked at, again."""

_INVISIBLE = late(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
_CHUNK = late(r"[^\s\"'`<>()\[\]{},;|*“”„«»‘’，。、；：！？（）「」]+")
_WORD = late(r"[^\W_]+")
_DENSE = late("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_INNER = late(r"\w[./:@_=\\~#]\w|\d[a-z]|[a-z]\d|^--?\w|^[~.]?/\w")
_HASH = late(r"(?=[a-f]*\d)[0-9a-f]{7,64}")
"""The name of a commit says nothing by itself."""
_ADDRESS = late(
    r"[a-z][a-z0-9+.-]*://[^/]+|[\w.+-]+@[\w-]+\.[\w.]+|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]|$)|"
    r"(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|sh|invalid|example|test|co|app|ai|xyz|info|biz|ru|cn|site|online|top|me|to|cc|"
    r"link|cloud|tech|zip|gg|ly|de|uk|fr|eu|us)(?:[:/]|$)"
)
_SUFFIX = late(r"(?:ing|ed|es|e|s|en|er|n)$")
_SENTENCE = late(r"(?<=[.!?。！？])\s+|\n+")
_STEP_MARK = late(r"&&|\|\||[;\n→]|->|(?<=[.!?])\s+|(?:^|\s)\(?\d{1,2}[.)]\s|\s[—–•]\s|,?\s+\bthen\b\s|[。；]|\*\*:?")
_FAILED = late(
    r"exit(?:ed)?(?: with)?(?: code| status)?:? {0,3}[1-9]|returned (?:a )?non-zero|command not found|"
    r"no such file or directory|"
    r"permission denied|could not resolve host|connection refused|^traceback|^fatal\b|^error\b|^<tool_use_error>|"
    r"doesn't want to proceed|\brejected\b|\bdenied\b|interrupted|timed out|not recognized as",
    re.IGNORECASE | re.MULTILINE,
)
_DEED = late(
    r"(?:^|[;&|(\n])[ \t]*(?:\w+=\S*[ \t]+)*(?:git(?:[ \t]+-[cC][ \t]+\S+)*[ \t]+(?:commit|push)"
    r"|(?:gh[ \t]+pr|glab[ \t]+mr)[ \t]+create)\b"
)
_SAID_IN_COMMAND = late(
    r"""\s--?(?:title|body|t|b)[= ]\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')""", re.DOTALL
)
"""What a command publishes beside a commit's message: words, which a tool may have said before, and no deed."""


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
        found = [(feature, at) for feature, _, at in _tokens(text) if feature in self._wanted]
        for feature, _ in found:
            self._first_tool.setdefault(feature, number)
        _divide(found, number, PASSAGE, self._tools)
        _divide(found, number, STATEMENT, self._statements)

    def _keep(self, text: str, number: int, passages: list[_Passage]) -> None:
        found = [(feature, at) for feature, _, at in _tokens(text) if feature in self._wanted]
        _divide(found, number, PASSAGE, passages)

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
        for feature, _, at in _tokens(text):
            if feature in self._wanted:
                if own or feature not in self._first_tool:
                    self._given.add(feature)
                at += self._length
                for place in {at // STEP, max(0, at // STEP - 1)}:
                    while place >= len(self._said):
                        self._said.append(_Passage())
                    if own:
                        self._said[place].own.add(feature)
                    else:
                        self._said[place].words.setdefault(feature, number)
        self._length += len(text) + 1

    def only_tools(self, category: str, text: str, quote: str = "", turns: Iterable[int] = ()) -> bool:
        """Whether nobody but a tool (or nobody who is known) said what a text says, or one step or order in it.

        `quote` is what bears it out and `turns` are those in which it stands. Where a person, or the assistant before
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
        # What a playbook is called is no step, unless a command or a path stands in it.
        named = text.startswith("**") and not any(feature.startswith("=") for feature in features(pieces[0]))
        return any(self._is_foreign(piece, own, whole=False) for piece in pieces[named:])

    def _own_words(self, quote: str, turns: Iterable[int]) -> frozenset[str] | None:
        """The words of a quote that is a person's, or the assistant's and no echo of a tool; None for any other."""
        whole = features(quote).keys()
        places = [at for at in turns if at < len(self._turns) and _is_own(self._turns[at])]
        typed = [_typed(self._turns[at]) for at in places if self._turns[at].role == "user"]
        if any(whole <= features(text).keys() for text in typed):
            return frozenset(whole)
        places = [at for at in places if self._turns[at].role != "user"]
        deeds = (_deed_of(command) for at in places for command in _proven(self._turns, at))
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
        weights = {
            feature: kind * self._rarity(self._frequency[feature])
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

    def _rarity(self, number: int) -> float:
        passages = len(self._said) + len(self._tools)
        return math.log(1 + passages / number) / math.log(1 + passages)

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
        for share, at in sorted(shares, reverse=True)[:MOST_ECHOES]:
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


def _divide(found: list[tuple[str, int]], number: int, length: int, passages: list[_Passage]) -> None:
    """Append the passages of one text, each of so many characters and half of it the next one's, too."""
    first, step = len(passages), length // 2
    for feature, at in found:
        for place in {at // step, max(0, at // step - 1)}:
            while first + place >= len(passages):
                passages.append(_Passage())
            passages[first + place].words.setdefault(feature, number)


def _has_written(turn: Turn) -> bool:
    """Whether a call wrote a file, and the record has its result elsewhere: otherwise the turn may hold it as well."""
    edits = [event for event in turn.events if isinstance(event, Edit)]
    return bool(edits) and all(event.answered and not event.failed and not event.refused for event in edits)


def _is_own(turn: Turn) -> bool:
    """Whether a person or the assistant speaks in a turn, or wrote a file by it."""
    return _has_written(turn) if turn.is_call else not is_foreign(turn)


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


def _typed(turn: Turn) -> str:
    return "\n".join(piece for piece, pasted in pieces(turn) if not pasted)


def _words_and_deed(command: str) -> list[tuple[str, bool]]:
    """A command line as what it says (True: the message of a commit, the text of a pull request) and what it does."""
    said = (found for form in (MESSAGE, _SAID_IN_COMMAND) for found in form.finditer(command))
    spans = sorted(found.span(found.lastgroup or 0) for found in said)
    return _split(command, [span for at, span in enumerate(spans) if not at or span[0] >= spans[at - 1][1]])


def _deed_of(command: str) -> str:
    return " ".join(piece for piece, said in _words_and_deed(command) if not said)


def is_foreign(turn: Turn) -> bool:
    """Whether the words of a turn count as a tool's. What the assistant calls a tool with is its own, and no proof."""
    from_outside = turn.role == "tool" or (
        turn.role == "system" and not any(isinstance(one, Compaction) for one in turn.events)
    )
    return (from_outside and not turn.is_call) or turn.doubtful


def _places(text: str, commands: Iterable[str]) -> list[tuple[int, int]]:
    """Where the commands stand in a text, in ascending order; a reader puts each into a fence of its own."""
    places = []
    for command in set(commands):
        start = text.find(f"```bash\n{command}\n```")
        while start >= 0:
            places.append((start + 8, start + 8 + len(command)))
            start = text.find(f"```bash\n{command}\n```", start + 8)
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
