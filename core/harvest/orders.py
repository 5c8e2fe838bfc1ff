"""Whether a text gives an order, says what the user wants, or reads out what another said: by words, not by grammar.

Asked of what nobody but a tool, a page or a stranger's file said; who that is, `support.py` tells. The words are those
of many languages, so it may err on the side of "yes": such an item waits in the quarantine, it is not lost. Code and
the names of commits are no orders, only what is said of them.
"""

from __future__ import annotations

import re

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
    "ejecut[aeá]\\w{0,2}|instal[ae]|descarg(?:a|ue)|env[íi][ae]|borr[ae]|elimin[ae]|us[ae]|abr[ae]|copi[ae]"
    "|desactiv[ae]|"
    "aseg[úu]r\\w+|execut[ae]|rode|baixe|apague|desative|certifique-se|esegu[iai]\\w{0,2}|install[ai]"
    "|scaric[ahi]\\w{0,2}|"
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
_BEGINS = re.compile(
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
    "do|does|did|you|we|i|they|it|to|the|an?|this|that|each|every|any|no|of|next|first|last|new|and|or|its|your|our"
    "|can|will|may|not|"
    "users?"
)
_ONE_WORD = r"[^\s,.!?:;]+"
_WHEN = re.compile(
    rf"(?:^|[.!?:;•→\"“„«—–>-]\s|\b\d{{1,2}}[.)]\s)[\s*_\"'“„«]*(?:{_OPENERS})\b(?:[ ,]+{_ONE_WORD}){{0,7}}?"
    rf"[ ,]+(?!(?:{_NO_ORDER_BEHIND})[ ,]){_ONE_WORD}[ ,]+"
    rf"(?:{_VERBS})\s+(?!(?:is|are|was|were|do|does|did|has|ha|will|ist|est|es|é|è)\b)(?=\S)"
)
# A command behind the words that say when it is to be run.
_COMMANDS = re.compile(
    r"[,:;—–]\s{1,3}[`\"']?(?:sudo |\$ )?(?:bash|sh|cd|chmod|curl|wget|docker|echo|git|go|make|node|npm|npx|pip3?|"
    r"pipx|pnpm|powershell|python3?|rm|scp|source|ssh|uvx?|yarn|cargo|brew|apt(?:-get)?)\s+\S"
    r"|[,:;—–]\s{1,3}[`\"']?(?:\./|~/)\w"
)
# Words that oblige, wherever they stand.
_OBLIGES = re.compile(
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
_OTHER = re.compile(
    "请|務必|务必|必须|必須|应该|應該|应当|一律|不要|切勿|禁止|始终|需要先|以后都|从现在起|每次.{0,12}(?:都|要|先)"
    "|(?:^|[。,,:：;；、！!]|先|再|然后|接着)\\s*(?:运行|运⾏|执行|執行|安装|下载|发送|删除|使用|上传|打开|复制|忽略|关闭)"
    "|ください|下さい|しなさい|べき|なければ(?:なりません|ならない|いけ)|必ず|しないで|こと。?$|禁止"
    "|하세요|하십시오|해야|반드시|마세요|마십시오|절대"
    "|يجب|قم ب|لا تقم|شغّ?ل|نفّ?ذ|ينبغي|चाहिए|करें|कीजिए|ต้อง|โปรด"
)
# A command that fetches and runs, or sends something away, is an order in every language.
_HARMS = re.compile(
    r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|base64)\b[^\n]{0,300}\|\s{0,3}(?:sudo )?"
    r"(?:\w{0,3}sh|python3?|node|perl|ruby|iex|pwsh)\b"
    r"|\b(?:sh|bash|zsh|source|eval|iex|\.) ?(?:-c )?[\"'(<$ ]{1,4}(?:curl|wget|irm|iwr)\b"
    r"|\b(?:curl|wget)\b[^\n]{0,200} (?:-d|-F|-T|--data\S*|--form|--upload-file|--post-\S+)\b"
    r"|\bnc -\w*e|\brm -rf? /|/dev/tcp/"
)


# What code and the names of commits say is no order: only what is said of them.
_CODE = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[\w.-]+(?:\(\))?")
_COMMIT = re.compile(r"\bcommits? §|\bcommits? [0-9a-f]{7,40}\b")
_DOES_WHAT = re.compile(
    r"[^`\n]*`\s+(?:(?:do|does|did|doesn't|is|are|was|were|has|can|will)\b"
    r"|(?!(?:always|as|this|its|across|unless|plus|us)\b)[a-z]{2,}s\b)"
)
# How a thing must be is a fact about code that names it, where nobody is told when to do something.
_INVARIANT = re.compile(
    r"§ (?:must|has to|have to|needs? to)(?: not)? be "
    r"(?:set|given|present|unique|sorted|valid|an?|in|at|one|absolute|relative)\b(?! to\b)"
    r"|\b(?:must|has to|have to|needs? to)(?: not)? (?:be (?:listed|named|declared|sorted|unique|one of)"
    r"|match|equal|contain|inherit|implement|return)\b(?: \w+){0,3} §"
)
_OCCASION = re.compile(r"\b(?:before|after|when|whenever|while|until|each|every time|always|first|prior|during|now)\b")


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
_WANTS = re.compile(
    r"\b(?:the |our |this )?(?:users?|person|developer|owner|maintainers?|human|operator|team|we|i) (?:\w+ ){0,3}?"
    r"(?:prefer|want|like|wish|expect|insist|ask|require|approve|agree|allow|decide|accept|trust)(?:s|d|ed)?\b"
    r"|\b(?:nutzer|benutzer|utilisateur|usuario|utente|gebruiker|użytkownik|пользовател\w+)\b|ユーザー|用户|使用者|사용자"
)


def guides(text: str, *, commands: bool = True) -> bool:
    """Whether a text would guide who reads it: it gives an order (see `is_order`), or says what the user wants."""
    return is_order(text, commands=commands) or _WANTS.search(text.casefold()) is not None


# How an assistant says that it only reads out what somebody wrote.
_READS_OUT = re.compile(
    r"\b(?:page|site|website|readme|docs?|documentation|file|output|tool|result|article|post|comment|issue|guide|text|"
    r"message|error|log|server|response|instructions?|script|notes?|report|it|author|section|ticket|email|helper"
    r"|sub-?agent|reviewer|seite|datei|"
    r"ausgabe|anleitung|fichier|sortie|página|archivo|страница|файл)s?\b[^.!?\n]{0,60}?(?<!which )\b(?:say|tell|"
    r"ask|suggest|recommend|instruct|"
    r"claim|advise|state|mention|want|direct|request|require|read|propose|prescribe|demand|urge|note|contain|report"
    r"|sagt|sagen|"
    r"schreibt|verlangt|empfiehlt|fordert|steht|dit|demande|recommande|indique|dice|pide|recomienda|говорит|просит"
    r"|требует)\w{0,3}\b(?![/._-]\w)"
    r"|\b(?:according to|as per|per the|quoting|quote[sd]?|it reads|laut|gemäß|selon|d'après|según|согласно|secondo)\b"
    r"|根据|按照|要求|(?:文档|页面|网页|网站|文件|说明|工具|输出|报告|日志|官方|作者|它)[^。！？\n]{0,20}建议|提到|写着|によると|と書|に従",
    re.IGNORECASE,
)


# A name, and what it wants: "Rowlib wants", "@mfox says". Not what the user or the assistant wants.
_NAMED = re.compile(
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
