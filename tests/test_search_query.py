"""What a person types is a query, whatever it is, and what stands in the store is found."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.result import Ok
from core.base.search_entry import SearchEntry, SearchSource
from core.search import reading
from core.search.candidates import EVERYTHING, READABLE, SMALL, Candidates, Filters, _matches
from core.search.index import open_index
from core.search.query import rank_all, search, search_threads
from core.search.rank import weighted
from core.search.reading import see_all
from core.search.store import Row
from core.search.terms import Query, Term, parse_query
from core.search.weights import WEIGHTS
from core.search.when import FAR, Moment, closeness, match_dates, moments_of
from core.search.words import Stems, words_of
from tests.search_shelf import Shelf

LINES = (
    "We keep sessions in session_store.py since May",
    "The language is C++ and not C",
    "co-cli is the program's name",
    "bullet|2026-05-02|/srv/app|decisions,db|The exporter listens on port 8080",
    "memory|2026-06-12||preference|Prefers tabs in Makefiles",
    "note|2026-01-03|/srv/app/src|files|Running the exporter twice loses a port",
    "数据库使用SQLite存储知识",
    "今天天气很好 🎉 party 👩‍💻",
    "Ängström wrote the Straße parser in naïve style",
    "100% of (a|b) in $HOME/.config [x] *",
    "Скорость поиска важна",
    "การค้นหาข้อความภาษาไทย",
    "한국어 검색도 됩니다",
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write("lines", *LINES)
    return made


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("co-cli", "co-cli is"),
        ("session_store.py", "We keep"),
        ("ession_sto", "We keep"),
        ("C++", "The language"),
        ('"unterminated port', "The exporter"),
        ("twice AND", "Running"),
        ("port OR", "The exporter"),
        ("NOT tabs", "Prefers"),
        ("NEAR(tabs makefiles)", "Prefers"),
        ("text:tabs", "Prefers"),
        ("^tabs*", "Prefers"),
        ("makefile", "Prefers"),
        ("makef", "Prefers"),
        ("run exporter", "Running"),
        ("ran exporter", "Running"),
        ('"in Makefiles"', "Prefers"),
        ("数据", "数据库"),
        ("存储知识", "数据库"),
        ("sqlite", "数据库"),
        ("天气", "今天"),
        ("🎉", "今天"),
        ("👩‍💻", "今天"),
        ("ängström", "Ängström"),
        ("angstrom", "Ängström"),
        ("STRASSE", "Ängström"),
        ("100%", "100%"),
        ("(a|b)", "100%"),
        ("$HOME/.config", "100%"),
        ("[", "100%"),
        ("*", "100%"),
        ("поиск", "Скорость"),
        ("ข้อความ", "การค้นหา"),
        ("검색", "한국어"),
    ],
)
def test_a_literal_is_found_first(shelf: Shelf, query: str, first: str) -> None:
    """Names of programs and files, operators, scripts without spaces, emoji: none is an error and none is lost."""
    hits = shelf.find(query)
    assert hits and hits[0].entry.text.startswith(first), [hit.entry.text for hit in hits]
    assert hits[0].why
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["", "   ", "\n", "\0"])
def test_nothing_asked_finds_nothing(shelf: Shelf, query: str) -> None:
    assert shelf.find(query) == []


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[object, list[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        shelf.write("lines", *LINES)
        index = shelf.open()
        yield index, [line.split("|", 4)[-1] if line.count("|") >= 4 else line for line in LINES]
        index.close()


@given(query=st.text(max_size=60) | st.text(alphabet="\"()*:^+-{}[]ANDORT '\\\0\ud800", max_size=30))
def test_no_text_is_a_syntax_error(opened, query: str) -> None:  # type: ignore[no-untyped-def]
    """A person sees hits or "nothing found", never an error of the database."""
    index, _ = opened
    for hit in search(index, query):
        assert hit.why and hit.score == hit.score


@given(data=st.data())
def test_any_part_of_a_line_finds_the_line(opened, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    """A search is never empty where the store has what was typed, letter by letter."""
    index, texts = opened
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    if part.strip(" \u200d"):
        assert text in [hit.entry.text for hit in search(index, part, limit=len(texts))], part


def test_parts_of_words_are_found_in_a_large_store_too(tmp_path: Path) -> None:
    """Above a few thousand entries texts are no longer read one by one; a literal is found all the same."""
    shelf = Shelf(tmp_path)
    dull = [f"filler number{number} about the sessions of a server, twice" for number in range(READABLE + 50)]
    shelf.write("many", *dull, "bullet||||The quixotic_handler.py module restarts session workers")
    index = shelf.open()
    wanted = "The quixotic_handler.py module restarts session workers"
    for query in (
        "ixotic_han",
        "handler.py mod",
        "dler.py module rest",
        "restarts session wor",
        "xotic",
        "session work",
    ):
        assert wanted in [hit.entry.text for hit in search(index, query)], query
    index.close()


def test_filters_say_what_a_hit_must_be(shelf: Shelf) -> None:
    """Kind, tag (any case), date from then on, and a folder with all below it."""

    def texts(filters: Filters) -> set[str]:
        return {hit.entry.text.split()[0] for hit in shelf.find("port exporter tabs", filters)}

    assert texts(Filters()) == {"The", "Prefers", "Running"}
    assert texts(Filters(kinds=("memory",))) == {"Prefers"}
    assert texts(Filters(tags=("DECISIONS", "db"))) == {"The"}
    assert texts(Filters(since="2026-05")) == {"The", "Prefers"}
    assert texts(Filters(project="/srv/app")) == {"The", "Running"}
    assert texts(Filters(project="/srv/app/src/")) == {"Running"}
    assert texts(Filters(project="/srv/ap")) == set()
    assert texts(Filters(tags=("dec",))) == set()


def test_the_same_statement_shows_once_with_its_confirmations(tmp_path: Path) -> None:
    """Five conversations that agree do not push everything else off the list."""
    shelf = Shelf(tmp_path)
    for name in "abcde":
        shelf.write(name, "The port is 8080." if name != "c" else "the PORT is 8080", f"{name} is another port")
    hits = shelf.find("port 8080", limit=4)
    assert len(hits) == 4
    assert hits[0].entry.text.lower().startswith("the port is 8080")
    own = hits[0].entry.provenance
    assert sorted([own, *hits[0].confirmations]) == [f"[from: {name}, 2026-06-01]" for name in "abcde"]


def test_a_long_document_does_not_crowd_out_a_short_match(tmp_path: Path) -> None:
    """A page that has every word somewhere stands behind the line that says it."""
    shelf = Shelf(tmp_path)
    page = " ".join(f"word{number} port the exporter listens somewhere" for number in range(2000))
    shelf.write("lines", page, "The exporter listens on port 8080", "another line", "one more line")
    hits = shelf.find("which port does the exporter listen on")
    assert hits[0].entry.text == "The exporter listens on port 8080"


def test_every_hit_says_why(tmp_path: Path) -> None:
    """Words, an exact phrase, the beginning of a word, a part of one."""
    shelf = Shelf(tmp_path)
    shelf.write("lines", "The exporter listens on port 8080", "Configuration of everything")

    def why(query: str) -> tuple[str, ...]:
        return shelf.find(query)[0].why

    assert why("listening exporters") == ("words: exporter, listens",)
    assert "exact: port 8080" in why('"port 8080" exporter')
    assert why("conf") == ("begins like: conf",)
    assert why("onfigurat") == ("part of a word: onfigurat",)


def thread(name: str, *turns: str) -> list[SearchEntry]:
    return [
        SearchEntry("document", f"{name}{at}", speaker, text, thread=name, position=at)
        for at, (speaker, _, text) in enumerate(turn.partition(": ") for turn in turns)
    ]


def test_an_answer_is_found_beside_its_question(tmp_path: Path) -> None:
    """In a conversation the answer often repeats no word of the question before it."""
    rows = thread("one", "Ann: Hello!", "Ann: Which harbour did the expedition leave from?", "Bob: Tromsø.", "Ann: Ah.")
    rows += thread("two", "Ann: Nice weather.", "Bob: Harbour seals are cute.", "Ann: Indeed they are.")
    path = tmp_path / "x"
    path.write_text("x")
    index = open_index(tmp_path / "cache", [SearchSource("x", path, lambda _: Ok(rows))])
    hits = search(index, "harbour of the expedition", limit=3)
    assert "Tromsø." in [hit.entry.text for hit in hits]
    assert next(hit for hit in hits if hit.entry.text == "Tromsø.").why == ("beside a match",)
    assert [name for name, _ in search_threads(index, "harbour of the expedition")] == ["one", "two"]
    index.close()


# --- reasons ---------------------------------------------------------------------------------------------------------
# A name that stands nowhere is not answered with whatever shares an ending or a number with it, and a date not with
# every text that was told on a day of that number.


REASONS_LINES = (
    "Run app.py with Python 3",
    "The store keeps one session for each user",
    "ConfigLoader reads toml",
    "The C compiler is clang",
    "Closes the issue 42 and takes 11 seconds",
    "Our cli prints JSON",
)


@pytest.mark.parametrize("query", ["manage_x.py", "C++", "3.11", "x.toml", "C#", "-c", "v2.py", "2.11", "42.11"])
def test_a_name_that_is_nowhere_brings_no_fragments(shelf: Shelf, query: str) -> None:
    """Someone looks for a file or a language that the store does not know: eight hits for `py` would hide that."""
    assert shelf.texts(query) == []


@pytest.mark.parametrize(
    ("query", "text", "why"),
    [
        ("session_store.py", REASONS_LINES[1], "part of the name: session, store"),
        ("co-cli", REASONS_LINES[5], "part of the name: cli"),
        ("src/app.py", REASONS_LINES[0], "part of the name: app, py"),
        ("#42", REASONS_LINES[4], "part of the name: 42"),
        ("config_loader.toml", REASONS_LINES[2], "part of the name: toml"),
        ("session-store", REASONS_LINES[1], "words: session, store"),
        ("app.py", REASONS_LINES[0], "exact: app.py"),
        ("store session", REASONS_LINES[1], "words: session, store"),
        ("py", REASONS_LINES[0], "words: py"),
    ],
)
def test_a_part_of_a_name_is_said_to_be_one(shelf: Shelf, query: str, text: str, why: str) -> None:
    """What may still be meant is shown, and cannot be taken for the name itself."""
    (hit,) = shelf.find(query)
    assert (hit.entry.text, hit.why[0]) == (text, why)


@pytest.mark.parametrize("literal", ["C++", "3.11", "session_store.py", "co-cli", "src/app.py", "-v", "x.y", "数据.md"])
def test_what_stands_there_as_typed_is_always_found(shelf: Shelf, literal: str) -> None:
    """Nothing that has the letters of the query is left out, whatever they are a part of."""
    shelf.write("more", f"Note that {literal} is meant", f"and again x{literal}x in a word")
    assert {"Note", "and"} <= {text.split()[0] for text in shelf.texts(literal)}


def test_the_number_of_a_day_is_no_reason(tmp_path: Path) -> None:
    """Whoever asks for a day gets what was told on it or near it, or names it, and not every text with that number."""
    shelf = Shelf(tmp_path)
    shelf.write(
        "a",
        "bullet|2026-11-21|||Backups run at night",
        "bullet|2026-11-23|||Restores of 21 disks take an hour",
        "bullet|2026-05-21|||Told on another 21st",
        "bullet|2026-05-02|||The window is 21 wide",
        "bullet|2026-05-03|||The release is planned for 21 November",
        "bullet|2026-05-04|||The freeze begins on 2026-11-21",
    )
    why = {hit.entry.text: hit.why for hit in shelf.find("on 21 November")}
    assert why == {
        "Backups run at night": ("date: 2026-11-21",),
        "Restores of 21 disks take an hour": ("near the date: 2026-11-23",),
        "The release is planned for 21 November": ("words: november",),
        "The freeze begins on 2026-11-21": ("names the date",),
    }
    assert shelf.find("21 disks")[0].why == ("exact: 21 disks", "words: 21, disks")


@pytest.mark.parametrize("query", ["in May 2026", "3.11", "on 21 November"])
def test_the_date_of_an_entry_is_no_reason_for_its_numbers(query: str, tmp_path: Path) -> None:
    """A fact has its date beside the text and no source in brackets: all facts of a year would be `related`."""
    path = tmp_path / "facts"
    path.write_text("x", encoding="utf-8")
    rows = [
        SearchEntry("fact", f"f:{at}", "", f"Fact {name}", f"2026-{at:02}-21") for at, name in ((3, "a"), (11, "b"))
    ]
    index = open_index(tmp_path / "cache", [SearchSource("facts", path, lambda _: Ok(rows))])
    try:
        found = {hit.entry.text: hit.why for hit in search(index, query)}
    finally:
        index.close()
    assert found == ({"Fact b": ("date: 2026-11-21",)} if "November" in query else {})


def test_a_piece_of_a_conversation_stays(tmp_path: Path) -> None:
    """What stands around it may answer the question."""
    pieces = [SearchEntry("document", f"talk:{at}", "", text, thread="talk", position=at) for at, text in
              enumerate(["Where is it started?", "In py, as always"])]  # fmt: skip
    path = tmp_path / "talk"
    path.write_text("x", encoding="utf-8")
    index = open_index(tmp_path / "cache", [SearchSource("talk", path, lambda _: Ok(pieces))])
    try:
        found = {hit.entry.text: hit.why for hit in search(index, "run_it.py")}
    finally:
        index.close()
    assert found["In py, as always"] == ("part of the name: py",)


# --- when ------------------------------------------------------------------------------------------------------------
# A query that names a date finds what was said then, and one that does not is not taken for a date.


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("what broke on 11 December, 2025?", [(2025, 12, 11)]),
        ("what broke on December 11th, 2025?", [(2025, 12, 11)]),
        ("on the 3rd of June", [(0, 6, 3)]),
        ("plans of January 2026", [(2026, 1, 0)]),
        ("decided in May", [(0, 5, 0)]),
        ("backup 2026-05-03 failed", [(2026, 5, 3)]),
        ("backup 2026-05", [(2026, 5, 0)]),
        ("what did we ship in 2025", [(2025, 0, 0)]),
        ("Sept. 3 and Oct 4", [(0, 9, 3), (0, 10, 4)]),
        ("29 February", [(0, 2, 29)]),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, moments: list[tuple[int, int, int]]) -> None:
    assert moments_of(text) == tuple(Moment(*one) for one in moments)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "may I ask",
        "a march of ants",
        "mar and dec",
        "port 8080",
        "31 June",
        "2026-13-40",
        "1.2026-05-3.4",
        "123456",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    """A number or a verb does not push what was asked for off the list."""
    assert moments_of(text) == ()


def test_closer_days_count_more_and_any_year_will_do() -> None:
    """What was told the day after comes before what was told a month later."""
    asked = moments_of("on 3 June")
    assert closeness(asked, "2024-06-03") == (1, 0, 0)
    later, latest = closeness(asked, "2024-06-04"), closeness(asked, "2024-07-04")
    assert later.within == 0 and later.after > latest.after > 0
    assert closeness(moments_of("in May 2026"), "2026-04-30").before > 0.8
    assert closeness(moments_of("29 February 2024"), "2023-02-28").after == 0
    assert closeness(asked, "no date") == closeness((), "2024-06-03") == FAR


@given(text=st.text(max_size=80), day=st.text(max_size=12))
def test_any_text_may_be_asked(text: str, day: str) -> None:
    """No query and no date in a file ends in an error, and what goes to the database is always well formed."""
    moments = moments_of(text)
    assert all(0 <= value <= 1 for value in closeness(moments, day))
    assert match_dates(moments).count('"') % 2 == 0


@given(year=st.integers(0, 9999), month=st.integers(0, 99), day=st.integers(0, 99))
def test_days_that_the_calendar_lacks_are_none(year: int, month: int, day: int) -> None:
    for moment in moments_of(f"{year:04}-{month:02}-{day:02}"):
        assert closeness([moment], f"{year:04}-{month:02}-{day:02}").within == 1


def test_an_entry_is_found_by_its_date(tmp_path: Path) -> None:
    """Someone who remembers only the day gets what was noted on it, and is told why."""
    shelf = Shelf(tmp_path)
    shelf.write(
        "a", "bullet|2026-05-02|||The exporter listens on port 8080", "bullet|2026-03-09|||Backups run at night"
    )
    shelf.write("b", "bullet|2026-03-20|||Restores take an hour", "bullet|2025-01-01|||Nothing was on this day")
    hits = shelf.find("what happened on 9 March 2026")
    assert hits[0].entry.text == "Backups run at night"
    assert "date: 2026-03-09" in hits[0].why
    assert shelf.texts("exporter port in March")[0] == "The exporter listens on port 8080"


# --- reading ---------------------------------------------------------------------------------------------------------
# The quick way to read candidates sees what the slow way sees.


PROSE = (
    "relational relation valence valency hopping hope happy happily flies fly dying die ran running runner's use used "
    "us organization organ session_store.py c++ co-cli troubles possibly sensibility rate rating at-at"
)
TEXTS = st.lists(st.sampled_from(PROSE.split()), min_size=1, max_size=14).map(" ".join)


def slow(text: str, query: Query, stems: Stems) -> tuple[list[float], set[str]]:
    """How often a text has each term, by looking at every word of it."""
    words = words_of(text)
    known = stems.learn(words)
    counts = [sum(term.stems.get(known[word], 0.0) for word in words) for term in query.terms]
    return counts, {word for word in words if any(known[word] in term.stems for term in query.terms)}


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), asked=TEXTS)
def test_no_word_is_overlooked(texts: list[str], asked: str) -> None:
    """Whatever its ending: a word that has the stem of a word that was asked for counts."""
    stems = Stems()
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE counted(entries INTEGER); INSERT INTO counted VALUES (9); CREATE TABLE stems(term, doc)"
    )
    query = parse_query(asked, database, stems)
    texts = [*texts, f"{texts[0]} é"]  # not plain ASCII: read the other way
    rows = [Row(at, "bullet", "", "", text, "", "", "", "", "", "", 0) for at, text in enumerate(texts)]
    for one in see_all(query, Candidates({row.id: row for row in rows}, {}), stems):
        counts, words = slow(one.row.text, query, stems)
        assert [round(count, 6) for count in one.counts] == [round(count, 6) for count in counts]
        assert one.words == words


def test_a_stem_starts_as_its_word_does() -> None:
    """Every word of this project's own prose is found by its stem; a stemmer that changed more would hide answers."""
    stems = Stems()
    prose = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    known = stems.learn(words_of(prose))
    for word in set(words_of(prose)):
        stem = known[word]
        if word.isascii():
            begins = reading._beginnings({stem})
            assert reading._places(f" {word} ", begins) == [0], (word, stem)


def test_an_entry_that_stands_alone_gets_the_same_score_either_way(tmp_path: Path) -> None:
    """The shortcut for bullets is the same sum; else they would stand wrongly beside pieces of conversations."""
    shelf = Shelf(tmp_path)
    shelf.write(
        "a", "bullet|2026-05-02|||The exporter listens on port 8080", "bullet|2026-03-09|||Ports of the exporter"
    )
    index = shelf.open()
    _, _, ranked, features = rank_all(index, "exporter port in May 2026", EVERYTHING, 10, None)
    assert len(ranked) == 2
    for one in ranked:
        assert abs(features.score(one.seen) - weighted(features.of(one.seen), WEIGHTS)) < 1e-9
    index.close()


def test_in_a_large_index_frequent_words_are_ranked_in_pairs() -> None:
    """A query of one rare and two frequent words does not rank what has a frequent word alone, unless too little is
    found otherwise."""
    terms = [Term(word, {word: 1.0}, found, 1.0) for word, found in (("often", 9000), ("rare", 90), ("usual", 5000))]
    query = Query("", "", (), (), tuple(terms), False, False, SMALL + 1)
    first, second = _matches(query, terms)
    assert first == '"rare" OR (("usual") AND ("often"))'
    assert second == '"rare" OR "usual" OR "often"'
    assert _matches(query, terms[:1]) == ['"often"']


def test_a_filter_that_few_pass_still_finds_what_has_a_frequent_word_alone(tmp_path: Path) -> None:
    """Someone who asks for memories only is not left without because other entries were chosen first."""
    rows = [SearchEntry("bullet", f"b{at}", "", f"usual often thing {at}") for at in range(SMALL + 20)]
    rows += [SearchEntry("bullet", f"r{at}", "", f"rare thing {at}") for at in range(100)]
    rows.append(SearchEntry("memory", "m", "", "the usual way is best"))
    path = tmp_path / "x"
    path.write_text("x")
    index = open_index(tmp_path / "cache", [SearchSource("x", path, lambda _: Ok(rows))])
    assert [hit.entry.key for hit in search(index, "rare usual often", Filters(kinds=("memory",)))] == ["m"]
    index.close()
