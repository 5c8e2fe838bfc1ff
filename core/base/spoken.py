"""What people say of a piece of work, by language: that it works or does not, that it is wrong, thanks, a yes, an
apology. A row is a fragment of a regular expression; `one_of` makes one pattern of a table.

Of 26 verdicts on 69 lines that were put into 63 real sessions, 8 are read by rows of other languages than English (the
sessions were looked at while the rows were written; most of these are Italian).

Chinese, Japanese and Korean have no blanks between words, so their rows carry no word boundary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from core.base import late

Table = Mapping[str, Iterable[str]]
"""Language -> fragments; the key `any` holds fragments that are taken as they stand."""

UNBROKEN = ("zh", "ja", "ko", "any")
"""Languages (and fragments) without a boundary of words around them."""


def one_of(*tables: Table, begins: bool = False) -> re.Pattern[str]:
    """One pattern for all rows of these tables, upper or lower case; `begins`: only where a text begins."""
    parts = []
    for language, rows in (item for table in tables for item in table.items()):
        found = "|".join(rows)
        parts.append(f"(?:{found})" if language in UNBROKEN else rf"\b(?:{found})(?!\w)")
    start = r"^[\s*_>\"“-]*" if begins else ""
    return late(f"{start}(?:{'|'.join(parts)})", re.IGNORECASE)


_ENDS = r"(?=\s*(?:[.,!;:)]|\Z))"
_GOES_ON = (
    r"(?=\s*(?:[.,!;:)–—-]\s|[.,!;:)]|\Z| (?:it|that|this|the|my|our|all|now|and|so|for|with|by|thanks?|thank)\b))"
)
"""What was fixed, or nothing: `fixed assets` are something else."""
_PLACED = r"(?! (?:after|before|there|here|at|in|on|below|above|next|behind|away|only)\b)"
"""Right is not where something stands."""

WORKS = one_of({
    "en": (
        r"(?:it|that|this|all|everything|now)(?: (?:now|all|just|really|actually|finally))* (?:works?(?! (?:for \w+ to|"
        r"differently|like th\w+|as follows)\b)|worked|helped|"
        rf"did (?:it|the trick)|(?:solved|fixed){_GOES_ON})",
        r"(?:it|that|this|all|everything|now)(?: (?:now|all|just|really|actually|finally))*(?:'s| is| got| was)"
        rf"(?: now| exactly| really| just)? (?:(?:fixed|solved)(?!-)|working|perfect|(?:right|correct){_PLACED}|great|"
        r"awesome|excellent)",
    ),
    "any": (
        r"\A\W*(?:(?:ok|okay|yes|yep|great|cool|nice|good|thanks|perfect)\b\W*)?(?:works|worked|"
        rf"(?:exactly|correct|fixed|solved|yes,? that){_ENDS})(?!\w)",
    ),
    "de": (
        r"(?:jetzt|nun|es|das|alles)(?: \w+)? (?:geht|funktioniert|klappt|läuft|passt)(?! (?:\w+ )?nicht)",
        rf"(?:geht|funktioniert|klappt|läuft)(?: (?:jetzt|nun|wieder|super|perfekt|einwandfrei)|{_ENDS})",
        "hat (?:geklappt|funktioniert|geholfen)", rf"(?:behoben|gelöst){_ENDS}",
    ),
    "fr": (
        r"(?:ça|cela|tout)(?: \w+)? (?:marche|fonctionne|passe)(?! (?:pas|toujours|plus))",
        r"c'est (?:bon|réglé|résolu)",
        r"(?:ça|cela|tout) a (?:marché|fonctionné)", r"fonctionne (?:maintenant|parfaitement|bien)",
    ),
    "es": (
        r"(?:ya|ahora|ahora sí|así)(?: \w+)? (?:funciona|va bien|anda|sirve)",
        rf"(?<!no )(?:funciona|funcionó)(?: (?:bien|perfecto|perfectamente)|{_ENDS})",
        rf"(?:solucionado|resuelto|arreglado){_ENDS}",
    ),
    "it": (
        r"(?:ora|adesso|così|tutto)(?: \w+){0,3} funziona",
        rf"(?:ora|adesso|così|tutto) (?:è )?(?:va|parte|a posto|risolto)(?: bene|{_ENDS})",
        rf"(?<!non )(?<!come )funziona(?: (?:tutto|bene|perfettamente|adesso|ora)|{_ENDS})",
        rf"(?:ha funzionato|risolto){_ENDS}",
    ),
    "pt": (
        r"(?:agora|já)(?: \w+)? (?:funciona|funcionou|foi|deu certo)",
        rf"(?<!não )(?:funcionou|deu certo|resolveu|resolvido){_ENDS}",
    ),
    "ru": (r"(?:теперь|всё|все|уже)(?: \w+)? (?:работает|заработало)", "(?<!не )(?:помогло|сработало|заработало)"),
    "zh": ("(?<!不)(?:可以|行|成功|解决|搞定|正常)了(?!吗)", "没问题了(?!吗)", "运行正常"),
    "ja": ("動(?:きました|いた|作しました)", "(?:うまく|上手く)(?:いきました|いった|動)",
    "(?:解決|成功)(?:しました|した)", "直りました"),
    "ko": ("(?<!안 )(?<!안)(?:됩니다|되네요|돼요|됐어요|됐습니다)", "작동(?:합니다|해요|하네요)", "해결(?:됐|되었)"),
})  # fmt: skip
PRAISE = one_of({
    "en": (
        r"thanks?(?! (?:to|in advance|for nothing)\b)", "thank you(?! in advance)", r"great(?! (?-i:[A-Z])[a-z])",
        "awesome", "excellent", r"nice(?! (?:to|try|if)\b)",
        r"perfect(?! (?:time|moment|place|opportunity|example|candidate)\b)",
    ),
    "de": ("danke", r"super(?! (?:class|user|admin)\b)", "perfekt", "toll", "klasse", "sehr gut", "spitze"),
    "fr": ("merci", "parfait", r"super(?! (?:class|user|admin)\b)", "génial", "excellent", "nickel"),
    "es": ("gracias", "perfecto", "genial", "excelente", "muy bien", "estupendo"),
    "it": ("grazie", "perfetto", "ottimo", "fantastico", "bravo", "benissimo", "eccellente", "bellissimo"),
    "pt": ("obrigad[oa]", "perfeito", "ótimo", "excelente", "muito bom", "valeu"),
    "ru": ("спасибо", "отлично", "супер", "прекрасно", "идеально"),
    "zh": ("谢谢", "太好了", "太棒了", "完美", "很好", "非常好", "不错"),
    "ja": ("ありがとう", "完璧", "素晴らしい", "すばらしい", "いいですね"),
    "ko": ("감사", "고마", "완벽", "좋아요", "훌륭"),
}, begins=True)  # fmt: skip
"""Praise opens a reply: at the end of a request it is politeness, in the middle an adjective."""
FILLER = re.compile(
    r"\A\W*(?:(?:ok(?:ay)?|yes|yep|oh|wow|so|um+|uh|hm+|well|ja|oui|sì|sí|sim|да|嗯|好的?)\b\W*)", re.IGNORECASE
)
"""What a reply begins with before it says anything."""
WISHED = re.compile(
    r"\b(?:make|let'?s|please|ensure|check|verify|if|whether|how|why|way|until|want|should|so that|once|hope|assum\w+|"
    r"suppose|would|are you sure|dass|ob|wie|damit|wenn|que|si|"
    r"comment|cómo|che|se|finché|чтобы|если)\b|如果|确保|直到",
    re.IGNORECASE,
)
"""What works behind such a word is wished for, or asked about."""
ONCE = re.compile(
    r"[^.,;:!?]{0,30}\b(?:(?<!as )(?<!like )before|until|previously|earlier|yesterday|(?:old|last|previous) \w+)\b",
    re.I,
)
"""What worked in front of such a word does so no more."""
SPOILS = re.compile(
    r"\b(?:broke|broken|breaks|crash(?:es|ed|ing)|fails|failed|still (?:the|not|no|an?|get\w*|see\w*|have|has|is|does)|"
    r"nothing (?!else)\w+s)\b",
    re.IGNORECASE,
)
"""Praise beside such a word is none."""
SUPPOSED = re.compile(r"\b(?:when|(?:if|whether|unless|in case)(?! (?:i|we)\b)(?: \w+){0,2})\W*\Z", re.IGNORECASE)
"""What fails, or is wrong, right behind such a word is thought of, and has not happened."""
CONTENT = re.compile(
    r"\A\W*(?:(?!not\b|t\b|never\b|no\b|pas\b)\w+\W+){0,3}(?:fine|good|great|perfect|ok(?:ay)?|thanks?|thank|enough|"
    r"all(?= for now|\W*\Z| thanks?| thank)|go (?:on|ahead)|no need|parfait|merci|bien|bon|bene|grazie|gut|danke|"
    r"gracias|obrigad[oa]|спасибо|хорошо)\b",
    re.IGNORECASE,
)
"""What follows a no that wants nothing more."""
YES = re.compile(r"\A\W*(?:yes|yep|ja|oui|sì|si|sí|sim|да|是的|好的?|はい|네|예)(?!\w)", re.IGNORECASE)
BUT = re.compile(
    r"\b(?:but|however|aber|jedoch|leider|mais|pero|mas|porém|ma|però|solo che|но|однако)\b|但|不过|可是|でも|しかし|"
    r"ただ|하지만|그런데|근데",
    re.IGNORECASE,
)

_FAILS = {
    "de": (
        r"(?:geht|funktioniert|klappt|läuft|hilft|startet|kompiliert|passt)(?: \w+){0,2} nicht",
        r"(?:nicht|nix) (?:geklappt|funktioniert|geholfen)", "immer noch",
        r"(?:gleiche|selbe)[rn]? (?:Fehler|Problem)",
        "Fehler bleibt", "bringt nichts", "Problem (?:bleibt|besteht)",
    ),
    "fr": (
        r"(?:ne |n')?(?:marche|fonctionne|change|résout|démarre|compile)(?: toujours)? (?:pas|rien)",
        "(?:ne|n').{2,20} toujours pas", "(?:dit|affiche|donne) toujours",
        "toujours (?:pas|la même|le même|une? erreur)", "même (?:erreur|problème)",
        "n'a (?:pas|rien) (?:marché|fonctionné|changé|résolu)", "problème (?:persiste|demeure|reste)",
    ),
    "es": (
        r"no (?:me |se |nos )?(?:funcion\w+|va(?! a )|sirve|sirvió|arranca|compila|ayuda|ayudó|resuelve|aparece|"
        r"cambia)",
        r"sigue (?:sin|igual|\w+ndo)", r"mism[oa] (?:error|problema)", "tampoco", "(?:me )?da error",
        "problema (?:persiste|sigue|continúa)",
    ),
    "it": (
        r"non (?:mi |ci |si |lo )?(?:funzion\w+|va(?! \w+[tds][oaie]\b)|parte|risolve|cambia|compila|compare|appare|"
        r"vedo|vede|trova|aiuta|riesco)", "niente da fare",
        r"stess[oa] (?:errore|problema)", r"ancora (?:lo stesso|errore|non)",
        r"(?:mi )?d[aà]'?(?: \w+){0,3} error[ei]", "non è cambiato (?:nulla|niente)",
        "problema (?:sussiste|persiste|rimane|resta)", "non hai capito",
        "funziona male", "(?:dice|dà|esce|compare|appare) (?:sempre|ancora)",
        r"mi (?:di)?spiace(?=,? ma|\W*\Z)", "ti (?:ho|avevo) detto",
    ),
    "pt": (
        r"não (?:funcion\w+|deu certo|resolve\w*|ajud\w+|abre|aparece|roda|compila|mudou)", "ainda não",
        "continua (?:sem|dando|igual|o mesmo)", "mesmo (?:erro|problema)", "deu erro",
        "problema (?:persiste|continua)",
    ),
    "ru": (
        r"не (?:работает|помогло|помогает|запускается|собирается|сработало|получилось|решило)",
        "(?:та же|та самая) ошибка", "ошибка (?:осталась|та же)", "всё ещё", "все еще", "по-прежнему",
        "проблема (?:осталась|сохраняется)",
    ),
    "zh": (
        "(?:还是|仍然?|依然)(?:不|没|报错|一样|有问题|失败|无法|同样)", "没有?(?:用|效果|生效|解决|作用)",
        "不(?:行|生效|起作用|能用)(?!不)", "报错(?!处理|信息|日志)", "同样的(?:错误|问题)", "问题(?:依旧|依然|还在)",
    ),
    "ja": (
        "動(?:きません|かない|かなかった)", "(?:まだ|やはり|同じ)[^。]{0,10}(?:エラー|ダメ|だめ)",
        "(?:うまく|上手く)(?:いきません|いかない|いかなかった)", "ダメ(?:でした|です)",
        "直(?:りません|らない|っていません)",
        "エラーが(?:出|発生)", "変わ(?:りません|らない|りませんでした)",
    ),
    "ko": ("안 ?(?:돼|됩|되)", "작동하지 않", "똑같은 (?:오류|에러|문제)", "여전히", "(?:오류|에러)가 (?:나|발생|뜨)",
    "해결되지 않"),
}  # fmt: skip
FAILS = one_of({
    "en": (
        "(?<!i'm )(?<!i am )(?<!we're )(?<!we are )not working",
        r"(?:does|did|is|was|has)(?:n'?t| not)(?: \w+){0,2} (?:work|affect|fix|solv|compil|help|load|show|appear|"
        r"display|open|start|change|update|respond|render)\w*", "do(?:n'?t| not) (?:work|help|compile|show|load)",
        r"still (?:fail\w*|broken|hangs?|the same|not|doesn't|isn't|crash\w*)",
        r"(?:it|that|this)(?:'s| is) not \w+ing",
        r"I(?:'m)? still (?:get|getting|see|seeing|(?:don'?t|do not|can'?t|cannot) (?:see|get|reach|open|run|build|"
        r"find))",
        r"I (?:can'?t|cannot|don'?t) (?:even )?(?:see|find|open|run) (?:it|them|that|this|any|the)"
        r"(?! (?:other |more )?(?:point|need|reason|use|benefit|value|difference|problem|issue|error|harm)s?\b)",
        r"(?:is|are|'s|'re)(?: just| simply| still)? not (?:visible|showing|there|displayed|applied|rendered)",
        r"(?:it|that|this|which|your \w+|(?:setting|using|adding|removing|changing) [^.?!\n]{1,40})(?: now| just)? "
        r"(?:caus|giv|throw|produc|rais|return|result)\w*[^.?!\n]{1,30}(?:errors?|exceptions?|crash\w*|failures?)",
        r"I (?:am |'m )?(?:just |now |then )?(?:get|got|getting|see|seeing)(?: \w+){0,3} errors?",
        r"caus(?:es|ed|ing) (?!this|the|that)(?:\w+ ){0,3}errors?", r"I still have(?: \w+){0,2} errors?",
        r"I(?:'ve| have| had to)? (?:revert(?:ed)?|undid|undo|discard(?:ed)?)(?: \w+){0,3} (?:it|that|this|your)",
        r"I (?:asked|told) you", r"you (?:did(?:n'?t| not)(?! (?:break|miss|forget|need|have))|forgot|missed|broke)",
        "let's start over",
        "(?:the )?same (?:error|issue|problem|thing)", "(?:problem|issue|error) (?:persists|remains|is still)",
        "nothing (?:happens|happened|changes|changed)",
        "(?:made|makes) (?:it|things|this) worse",
        r"no (?:change|effect|luck|difference)s?(?! (?:needed|required|which|between|whether|how|if)\b)",
    ),
    "any": (
        r"\A\W*(?:it )?still\b(?! (?:to do|open|left))",
        r"\A\W*(?:(?:please|can you|could you) )*(?:revert|undo|roll back) (?:it|that|this|these|those|your|all|the)\b",
    ),
}, _FAILS)  # fmt: skip
WRONG = one_of({
    "en": (
        r"(?:that|this|it|you|your \w+|the (?:answer|fix|advice|suggestion))"
        r"(?:'s|'re| is| was| are| were| looks| seems)?(?: \w+)? (?:wrong|incorrect|misleading|outdated|misled)",
        r"(?:that|this|it)(?:'s not| is not|(?: is|was)n't| was not) (?:right(?! now)|true|correct|what i|it)",
        r"led .{1,20} astray",
    ),
    "any": (
        r"\A\W*(?:wrong|incorrect)\b",
        r"\A\W*but (?:it|that|this|they)(?:'s| is| are) (?:right|correct|already|there)\b",
        r"\A\W*ma (?:è|e'|sono) (?:giust|corrett|già)\w*", r"\A\W*aber (?:das|es) (?:ist doch|ist schon|stimmt)\b",
        r"\A\W*mais c'est (?:bon|juste|correct|déjà)\b", r"\A\W*pero (?:es|está) (?:correct[oa]|bien|ya)\b",
        r"\A\W*mas (?:é|está) (?:cert[oa]|corret[oa])\b",
    ),
    "de": (r"(?:das|es|dies) (?:ist|war)(?: \w+)? falsch", r"stimmt (?:so |aber )?nicht", "das ist nicht richtig"),
    "fr": ("c'est faux", "ce n'est pas (?:ça|vrai|correct|juste)"),
    "es": (r"no es (?:eso|así|cierto|correcto|verdad|lo que)", r"(?:está|es) (?:mal|incorrecto)"),
    "it": (r"(?:è|e'|hai) sbagliat\w+", r"non (?:è|e') (?:vero|così|corretto|giusto|quello)"),
    "pt": (r"(?:está|é) errad[oa]", "não é (?:isso|verdade|assim|o que)"),
    "ru": ("это (?:неверно|неправильно)", "это не (?:так|то|правда)"),
    "zh": ("不对(?!称|齐)", "错了", "不是(?:这样|这个|我)", "不正确"),
    "ja": ("違います", "間違って", "正しくない"),
    "ko": ("틀렸", "틀린", "잘못됐"),
})  # fmt: skip
NO = one_of({
    "en": (r"(?:no|nope)\W+(?:that|this|it|you|not)",), "zh": ("不[,，。]",), "ja": ("いいえ",), "ko": ("아니",),
    "any": (r"(?:nein|non|no|não|нет)[,.]",),
}, begins=True)  # fmt: skip
"""What it denies, unless it answers a question."""
OBJECTS = one_of({
    "en": ("technically", "actually", "sorry,? but", "but", "I (?:don'?t think|doubt)"), "de": ("aber", "eigentlich"),
    "fr": ("mais", "en fait"),
    "es": ("pero", "en realidad"), "it": ("ma", "scusa,? ma", "veramente"),
    "pt": ("mas", "na verdade"), "ru": ("но", "вообще-то"), "zh": ("但是?", "其实"), "ja": ("でも", "実は"),
    "ko": ("하지만", "사실"),
}, begins=True)  # fmt: skip
"""It denies what it names."""
IS_NOT = one_of({
    "en": (
        r"(?:is|are|was|were|has|have|\w+s)\b[^.?!\n]{2,80}, not (?:the|an?|in|on|to|by|with)",
        "(?:it|that|this)(?:'s| is) not an?",
        "(?:we|I) (?:don'?t|do not) (?:want|need)(?: an?| the| any)?",
    ),
    "de": (r"(?:ist|sind) (?:kein\w*|nicht (?:der|die|das|ein\w*))",),
    "fr": ("n'est pas (?:une?|le|la)",), "es": ("no es (?:una?|el|la)",),
    "it": ("non (?:è|e'|sono) (?:una?|uno|il|la|lo)", "non (?:voglio|serve|vogliamo)"),
    "pt": ("não é (?:uma?|o|a)",), "ru": ("это не",), "zh": ("不是",),
})  # fmt: skip
"""What stands behind it is said not to be so."""
ASKS_FOR = one_of({
    "en": (r"how (?:can|do|should|to)", r"I(?:'d| would) like", "I want",
    r"(?:(?:please|now|then|also|next|and)\W+)*(?:add|write|create|document|handle|translate|implement|fix the bug)",
    r"(?:can|could|would) (?:you|we|I)(?! (?:please )?(?:revert|undo|roll))"),
    "de": ("wie (?:kann|mache|geht)", "ich (?:möchte|will)", "kannst du", "können (?:sie|wir)"),
    "fr": ("comment", "je (?:veux|voudrais)", "peux-tu", "pouvez-vous"),
    "es": ("c[óo]mo", "quiero", "quisiera", "puedes", "me gustaría"),
    "it": ("come (?:posso|faccio|si)", "vorrei", "voglio", "potresti", "puoi", "(?:ti )?(?:copio|incollo)"),
    "pt": ("como", "quero", "você pode", "gostaria"), "ru": ("как", "хочу", "можешь", "можно"),
    "zh": ("怎么", "如何", "我想", "请", "帮我"), "ja": ("どうやって", "どうすれば"), "ko": ("어떻게",),
}, begins=True)  # fmt: skip
"""A sentence that begins so asks for something: what it calls failing is what is to be done next."""
ELSEWHERE = one_of({
    "en": ("other", "another", "next", "second", "different", "remaining", "unrelated", "else"),
    "de": (r"ander\w+",), "fr": ("autre",), "es": (r"otr[oa]",), "it": (r"altr[oaie]",), "pt": (r"outr[oa]",),
    "ru": (r"друг\w+",), "zh": ("另", "别的", "其他"), "ja": ("別の", "他の"), "ko": ("다른",),
})  # fmt: skip
"""What fails is not what was asked about."""
CORRECTION = one_of({
    "en": (
        "no,", "nope", "actually", r"that'?s (?:not|wrong)", r"it'?s (?:not|actually)", "technically", "wrong",
        "not (?:quite|true)", r"you (?:forgot|missed)", r"that (?:did ?n[o']t|does ?n[o']t|is ?n[o']t)",
        r"still (?:not|broken|fails?|failing|the same|an? )", r"it (?:still|does ?n[o']t|did ?n[o']t)",
        r"same (?:error|issue|problem)",
    ),
    "de": ("nein,", "falsch", "stimmt nicht"), "fr": ("non,", "c'est faux", "ça ne marche pas"), "es": ("no es",
    "mal,"),
    "zh": ("不对", "不是", "错了"), "ja": ("違います", "間違"), "ko": ("아니", "틀렸"), "ru": ("нет,", "неверно"),
    "pt": ("não,", "continua"),
}, _FAILS, begins=True)  # fmt: skip
TROUBLE = one_of({
    "en": (
        r"\w*errors?", r"\w*exception", "traceback", "fail(?:s|ed|ing|ure)?", "broken?", r"crash\w*",
        r"still (?:no|not|the|get\w*|see\w*|have|has|is|does)", "bugs?", "wrong", "stuck",
        "does(?:n'?t| not) (?:work|show|appear|seem|help)", "did(?:n'?t| not) (?:work|help|fix|do)", "not working",
        "isn'?t working", r"nothing happen\w*", "same (?:issue|problem|thing)",
    ),
    "de": ("fehler",), "fr": ("erreurs?",), "es": ("errores",), "it": ("errori",), "ru": (r"ошибк\w+",),
    "any": ("错误", "失败", "还是", "エラー", "오류"),
}, _FAILS)  # fmt: skip
"""What somebody says of what does not work (yet)."""
APPROVES = one_of({
    "en": (
        "yes", "yep", "yeah", "ok(?:ay)?", "sure", "do it", "go ahead", "go for it", "sounds good", "lgtm", "great",
        "looks good", "perfect", "please do", "proceed", "agreed?", "approved", "let'?s do (?:it|that)",
        "makes sense",
        "fine",
    ),
    "de": ("ja", "mach das", "mach es", "passt", "einverstanden", "gerne", "klingt gut", "los"),
    "fr": ("oui", "d'accord", "vas-y", "allez-y", "parfait", "ça marche"),
    "es": ("sí", "vale", "adelante", "dale", "de acuerdo", "perfecto", "hazlo"),
    "zh": ("可以", "好的?", "行", "同意", "没问题", "是的", "开始"),
    "ja": ("はい", "お願いします", "いいです", "了解", "それで"),
    "ko": ("네", "예", "좋아요", "좋습니다", "그래", "진행"),
}, begins=True)  # fmt: skip
"""A short yes to what was proposed."""
TAKES_BACK = one_of({
    "en": (
        r"(?:let me|I'll|I will|I am going to|I'm going to|I should)(?: \w+)? (?:revert|undo|roll back|back out)"
        rf"(?:{_ENDS}| (?:my|that|this|these|it|both|the (?:\w+ )?(?:changes?|edits?|fix|commit)))",
        r"(?<!not )revert(?:ing|ed) (?:my|that|this|these|it|back)", r"I was (?:wrong|mistaken)", "my mistake",
        r"let(?:'s| me) try (?:a different|another) (?:approach|way)",
        r"(?:that|this|my (?:\w+ ){1,2})(?:did(?:n't| not) (?:work|help)|was (?:wrong|a mistake|incorrect))",
    ),
    "de": ("mache (?:ich )?(?:das |es )?rückgängig", "mein Fehler"), "fr": ("j'annule", "je me suis trompé"),
    "es": ("revierto", "me equivoqué", "error mío"), "it": ("ho sbagliato", "mio errore", "errore mio"),
    "pt": ("reverto", "me enganei", "erro meu"), "ru": (r"откат\w+", r"я ошиб\w+"),
    "zh": ("撤销", "回滚", "我错了", "我弄错"), "ja": ("元に戻", "私の間違い"), "ko": ("되돌리", "제 실수"),
})  # fmt: skip
"""What an assistant says that gives up what it did."""
APOLOGY = one_of({
    "en": (r"(?:I )?apologi[sz]e", "(?:my )?apologies", "I'm sorry", "sorry"),
    "de": (r"entschuldig\w+", "tut mir leid"), "fr": ("désolée?", r"(?:toutes )?mes excuses"),
    "es": ("lo siento", r"disculp\w+", "perdón"), "it": ("mi scuso", r"scusa\w*", "mi dispiace"),
    "pt": (r"desculp\w+",), "ru": (r"извин\w+", "прошу прощения"), "zh": ("抱歉", "对不起"), "ja": ("申し訳",
    "すみません"),
    "ko": ("죄송",),
})  # fmt: skip
