"""What a user types is a query, whatever it is, and what stands in the store is found."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.entry import Entry
from core.search.candidates import READABLE, Filters
from core.search.query import rank_threads, search
from tests.search_shelf import Shelf, indexed

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
    """A user sees hits or "nothing found", never an error of the database."""
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
    parts = "ixotic_han", "handler.py mod", "dler.py module rest", "restarts session wor", "xotic", "session work"
    for query in parts:
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


@pytest.mark.parametrize(
    ("query", "line", "form"),
    [("eying the parcel", "She eyed a parcel", "eyed"), ("pate recipe", "A pâté", "pâté")],
)
def test_each_form_of_a_word_counts(tmp_path: Path, query: str, line: str, form: str) -> None:
    """Also where the stemmer changes a second letter, and where an accent stands in one of them alone."""
    shelf = Shelf(tmp_path)
    shelf.write("lines", line, "Nothing of this")
    assert f"words: {form}" in shelf.find(query)[0].why[0]


def bullets(*texts: str) -> list[Entry]:
    return [Entry("bullet", f"{at}", "", text) for at, text in enumerate(texts)]


def thread(name: str, *turns: str) -> list[Entry]:
    return [
        Entry("conversation", f"{name}{at}", speaker, text, thread=name, position=at)
        for at, (speaker, _, text) in enumerate(turn.partition(": ") for turn in turns)
    ]


def test_an_answer_is_found_beside_its_question(tmp_path: Path) -> None:
    """In a conversation the answer often repeats no word of the question before it."""
    rows = thread("one", "Ann: Hello!", "Ann: Which harbour did the expedition leave from?", "Bob: Tromsø.", "Ann: Ah.")
    rows += thread("two", "Ann: Nice weather.", "Bob: Harbour seals are cute.", "Ann: Indeed they are.")
    with indexed(tmp_path, rows) as index:
        why = {hit.entry.text: hit.why for hit in search(index, "harbour of the expedition", limit=3)}
        assert why["Tromsø."] == ("beside a match",)
        assert [hit.thread for hit in rank_threads(index, "harbour of the expedition").threads] == ["one", "two"]


def test_a_long_conversation_does_not_stand_before_a_short_one_that_is_about_it(tmp_path: Path) -> None:
    """It has every word somewhere, and was the first answer to whatever was asked."""
    talk = "We went through the whole list, point by point, and noted who does it. " * 40
    said = ("The harbour is closed.", "The fee is due.", "It is winter.", "He pays for the harbour.", "A winter fee?")
    rows = thread("long", *(f"Ann: {talk} {said[at % len(said)]}" for at in range(30)))
    rows += thread("short", "Ann: Who pays the fee of the club?", "Bob: In winter the harbour does.")
    with indexed(tmp_path, rows) as index:
        found = rank_threads(index, "who has to pay the harbour fee when it is winter").threads
        assert [hit.thread for hit in found] == ["short", "long"]


def test_a_misspelt_word_is_taken_for_the_nearest_one(tmp_path: Path) -> None:
    """A user who types fast finds what they meant; what is spelled right is never taken for something else."""
    texts = ("The authentication token is rotated", "The oven is hot", "Sessions are kept", "An error of the exporter")
    meant = {"autentication": "0", "errror with tokn": "03", "sess": "2", "kepd": "2", "ovem": "1"}
    meant |= {"tokn42": "", "zzzz": ""}
    # Another word that shares the beginning of a stem is none that was meant.
    texts += ("The tills show a plan", "A pain in the neck")
    meant |= {"shopping": "", "planting": "", "painting": "", "shwo": "4", "nekc": "5"}
    with indexed(tmp_path, bullets(*texts)) as index:
        found = {text: "".join(sorted(hit.entry.key for hit in search(index, text))) for text in meant}
    assert found == meant


def test_words_that_say_nothing_in_other_languages_are_not_sought(tmp_path: Path) -> None:
    """Among English texts they are rare, and would count more than what is asked for."""
    texts = ("Quale della nella abbiamo", "La configurazione del server", "Wo haben wir die Datenbank", "Etwas anderes")
    with indexed(tmp_path, bullets(*texts)) as index:
        assert [hit.entry.key for hit in search(index, "dove abbiamo parlato della configurazione")] == ["1"]
        assert next(hit.entry.key for hit in search(index, "wo ist die Datenbank")) == "2"
