"""What an agent that asks is told at the moment of its work: `find`."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import tests.mcp_tools  # noqa: F401 - describes each tool once
from tests.asking import answered, kept_talk
from tests.cli_call import call
from tests.shop import FAILS, WORKS, edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


# --- find -------------------------------------------------------------------------------------------------------------


def test_find_answers_in_a_line_with_the_place_the_state_and_what_is_gone(shop: Path) -> None:
    code, out, _ = call("find", "why are release notes generated?")
    line = out.splitlines()[0]
    assert code == 0 and "because the bot refuses those of docs/old.md" in line and "→ s1:2" in line
    assert "a question open" in line and "gone from git since: docs/old.md" in line and "shop" in line


def test_the_place_of_a_hit_is_no_password(shop: Path) -> None:
    """Behind a sentence on a secret an agent that ran the command in a shell got `[redacted: secret]` for a place."""
    said = ["How do people log in on staging?", "With the full flow when `STAGING_SECRET` is not set"]
    kept_talk(shop, "b4-b33d460b93-0", said)
    for command in ("find", "search"):
        assert "→ b4-b33d460b93-0:2" in call(command, "how to log in on staging")[1], command


def test_one_call_brings_the_cause_that_a_later_exchange_found(shop: Path) -> None:
    """The words of the question stand in the question, the cause behind work and talk: without the passage an agent
    reads on for thousands of characters, and the middle of a long message is where it loses the answer."""
    filler = [f"- Step {number} of the list is done and was looked at twice." for number in range(60)]
    cause = "The importer opened the ledger twice, therefore the rows came twice; a lock in `ledger.py` cured it."
    said = [
        "Why does the nightly import write every row twice?",
        "Let me look at the nightly import.",
        "And?",
        "\n".join([*filler[:30], f"**Root cause**: {cause}", *filler[30:]]),
        "Thanks, and what of the colours?",
        "They are blue.",
    ]
    rows = [
        turn("user" if at % 2 == 0 else "assistant", [{"type": "text", "text": text}], at, "s3", shop)
        for at, text in enumerate(said)
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s3.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    asked = "the nightly import writes rows twice again: why?"
    page = answered("read", name="s3:4", query=asked)
    assert cause in page and len(page) <= 3000
    found = answered("find", query=asked)
    assert cause in found and len(found) <= 3400
    more = answered("read", name="s3:4", query=asked)
    assert "They are blue" in found, "where there is room it tells what came of it, too"
    assert cause not in more and "- Step " in more and "They are blue" not in more
    assert more.splitlines()[1] == "s3, what was shown before is left out:"
    assert cause not in answered("read", name="s3:4"), "without a query its beginning and end"


def test_a_question_about_the_end_is_told_the_end_and_that_it_is_the_end(shop: Path) -> None:
    """What came of it shares no word with the question: an agent read the end of the session to see it."""
    said = [
        *(
            text
            for part in range(30)
            for text in (
                f"Does the banner of the landing page move with part {part}?",
                f"The banner of the landing page would move {part} pixels: {'abc ' * 25}",
            )
        ),
        "Thanks.",
        "You are welcome.",
        "Leave everything as it was, please.",
    ]
    rows = [
        turn("user" if at % 2 == 0 else "assistant", [{"type": "text", "text": text}], at, "s4", shop)
        for at, text in enumerate(said)
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    for asked in ("did the banner of the landing page ever move?", "What happened to the banner of the landing page?"):
        found = answered("find", query=asked)
        assert "[63 user, the last] Leave everything as it was" in found and len(found) <= 3400
    assert "[63 user, the last]" in answered(
        "find", query="Wie ging es mit dem banner der landing page am Schluss aus?"
    )
    call_of = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make banner"}}
    printed = {"type": "tool_result", "tool_use_id": "t1", "content": "Interrupted after 3 s"}
    rows += [
        turn("assistant", [call_of], len(rows), "s4", shop),
        turn("user", [printed], len(rows) + 1, "s4", shop),
    ]
    (kept / "s4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    found = answered("find", query="did the banner of the landing page ever move?")
    assert "[64] make banner … [65, the last] Interrupted" in found, "a tool's output is behind the last words"


@pytest.mark.parametrize("elsewhere", [0, 28])
def test_a_name_of_code_counts_most_in_a_question_in_another_script(shop: Path, elsewhere: int) -> None:
    """Asked in Russian where `resultUrl` points now, an agent was told the one session that was held in Russian: the
    words around the name are rare where most is in English. Where sessions are in Russian they say what they mean."""
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    pictures = ("Where do the pictures go?", "They are below public/generated, and resultUrl holds the relative path.")
    values = ("Проверь признаки: они растут?", "Вместо прежнего порядка значения попадают в график.")
    parts = [text for at in range(elsewhere) for text in (f"Write part {at}", f"Part {at} of the shop is written")]
    for name, said in (("s5", pictures), ("s6", values), ("s7", parts)):
        rows = [
            turn("assistant" if at % 2 else "user", [{"type": "text", "text": text}], at, name, shop)
            for at, text in enumerate(said)
        ]
        (kept / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    asked = "Что попадает в resultUrl вместо прежнего значения, и почему картинки пропали после сборки образа?"
    first = answered("find", query=asked).splitlines()[1]
    assert ("public/generated" if elsewhere else "Вместо прежнего") in first, first


def test_a_long_message_does_not_take_the_room_of_what_was_agreed_before(tmp_path: Path) -> None:
    """Each of its lines has most words of the question; what was asked for stands in a short turn before."""
    from core.search import conversations as stored
    from core.search.answering import answering
    from core.search.terms import parse_query
    from core.search.words import Stems

    lines = [
        f"- **Part {n}** of the parcel API has its request limits: {' '.join(f'word{n * 9 + at}x' for at in range(9))}"
        for n in range(32)
    ]
    said = [
        "How many requests may one customer make?",
        "The request limit is 60 a minute for deleting and 120 a minute for editing.",
        "For how long may a customer take it back?",
        "The undo of a deletion is settled at 10 seconds.",
        "And the colours?",
        "They are blue.",
        "Write the contract of the parcel API.",
        "\n".join(["## Contract of the parcel API", *lines]),
        "Thanks",
        "Good.",
    ]
    pieces = [
        stored.Piece(at, "user" if at % 2 == 0 else "assistant", "2026-05-06", text) for at, text in enumerate(said)
    ]
    database = stored.open_or_make(tmp_path)
    with stored.writing(database, tmp_path):
        stored.put(database, stored.Held(1, "p", "", "s", "claude_code", turns=len(said)), pieces)
    asked, stems = "which request limits and which undo did we settle for the parcel API?", Stems()
    weighed = answering(database, parse_query(asked, database, stems), stems, 1, (7, 6, 3, 1))
    made = weighed.excerpt(3000) if weighed is not None else None
    database.close()
    assert made is not None and "10 seconds" in made.text and "- Part 1" in made.text
    assert "**" not in made.text and "##" not in made.text, "marks of markdown are room that tells nothing"


def test_a_heading_as_long_as_a_book_takes_no_room_of_who_answers(shop: Path) -> None:
    """A paragraph that was all bold, or behind a "#", was one sentence of any length: it filled the whole answer."""
    book = "# " + "the label printer jams on the parcel " * 300
    rows = [("user", "The label printer"), ("assistant", book)]
    for name, said in (("s5", rows), ("s6", [rows[0], ("assistant", "Thick paper jams the label printer; 80 grams.")])):
        kept(name, [turn(who, [{"type": "text", "text": text}], at, name, shop) for at, (who, text) in enumerate(said)])
    found = answered("find", query="what makes the label printer of the parcels jam?")
    assert "80 grams" in found and len(found) <= 3400


def test_a_session_of_the_same_name_in_another_project_is_not_told(shop: Path, tmp_path: Path) -> None:
    """A session that was copied with its project, and went on there: its words stood below the name of this one."""
    other = tmp_path / "work" / "till"
    other.mkdir()
    place = tmp_path / ".claude" / "projects" / "till"
    place.mkdir()
    said = "The pelican cache of the shop lives in"
    for folder, where, store, day in ((other, place, "memcached", 9), (shop, place.parent / "shop", "redis", 3)):
        talk = [turn("user", "Where does the pelican cache live?", 0, "s4", folder),
                turn("assistant", [{"type": "text", "text": f"{said} {store}."}], 1, "s4", folder)]  # fmt: skip
        rows = (row | {"timestamp": f"2026-05-0{day}T09:00:00.000Z"} for row in talk)
        (where / "s4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    for told in (
        answered("find", query="where is the pelican cache?"),
        answered("read", name="s4:1", query="where does it live?"),
    ):
        assert "redis" in told and "memcached" not in told


def test_a_phrase_deep_in_a_long_turn_is_found(shop: Path) -> None:
    kept_talk(shop, "s5", ["Tell me of the tern.", f"{'It flies far and wide. ' * 60}After 7 retries it rests."])
    assert "stands nowhere" not in answered("find", query='the tern "7 retries"')
    assert "stands nowhere" in answered("find", query='the tern "8 retries"')


def test_a_sentence_is_found_as_it_was_shown(shop: Path) -> None:
    """What find prints has no stars; in quotation marks it was said to stand nowhere."""
    kept_talk(shop, "s5", ["And the drawer?", "The drawer **must stay** closed while `till.py` counts the coins."])
    shown = "The drawer must stay closed while `till.py` counts the coins."
    assert shown in answered("find", query="must the drawer stay closed?")
    assert "stands nowhere" not in answered("find", query=f'"{shown}"')


def test_what_only_a_tool_printed_is_not_called_unsaid(shop: Path, tmp_path: Path) -> None:
    """The index has the ends of an output: 'nobody said' kept an agent from reading the file that has the answer."""
    lines = [f"- part {number} of the plan is as it was" for number in range(60)]
    printed = "\n".join([*lines[:30], "## Rollout", "Behind the flag `diff_enabled`.", *lines[30:]])
    said = turn("user", "Look at the plan before you begin.", 0, "s4", shop)
    other = tmp_path / "work" / "till"
    other.mkdir()
    elsewhere = ran("cat plan.md", printed.replace("Rollout", "Roadmap"), False, 0, "s6", other)
    kept("s6", [turn("user", "Look at it.", 2, "s6", other), *elsewhere])
    kept("s4", [said, *ran("cat plan.md", printed, False, 1, "s4", shop)])
    found = answered("find", query="what is our rollout?")
    assert "only a tool printed rollout: read s4:3 with the question" in found and "nobody said" not in found
    assert "diff_enabled" in answered("read", name="s4:3", query="what is our rollout?")
    assert "printed" not in answered("find", query="what is our roadmap?"), "only another project's tool did"
    assert "only a tool printed roadmap" in call("find", "what is our roadmap?", "--project", str(other))[1]


def test_a_session_in_another_script_is_asked_for_in_it(shop: Path) -> None:
    kept_talk(shop, "s7", ["请说明 tunnel 目前只支持 free 套餐", "好的，我会在 README 里说明只支持 free 套餐。"])
    assert "another language" in answered("find", query="which tunnel plans does the README name: free?")
    assert "another language" not in answered("find", query="tunnel 支持哪些 free 套餐?")


def test_a_question_in_another_language_of_latin_letters_is_told_to_ask_in_theirs(shop: Path) -> None:
    """A weak answer on names alone was looked for again in the same words."""
    kept_talk(
        shop, "s7", ["Which of the plans does the tunnel of the README name?", "It is the free plan that we have."]
    )
    hint = "another language: ask in that too"
    assert hint in answered("find", query="Welche Tarife haben wir für den Tunnel der Kunden mit Vertrag?")
    assert hint not in answered("find", query="Which of the plans does the tunnel name?")
    hint = "may be in another language"
    assert hint in answered("find", query="Wie verhindern wir doppelte Buchungen für einen Mitspieler?"), "nothing fits"
    assert hint not in answered("find", query="How do overlapping bookings get prevented?")


@pytest.mark.parametrize(
    ("asked", "weak"),
    [
        ("How long do listings stay in the Redis cache before they are fetched?", True),
        ("How long do listings stay in the LRU cache before they are fetched?", True),
        ("How long do listings stay in the cache on Tuesday before they are fetched?", False),
        ("How Long Do Listings Stay In The Quick Cache Before They Are Fetched?", False),
    ],
)
def test_days_and_titles_are_no_names_that_nobody_said(shop: Path, asked: str, weak: bool) -> None:
    said = ["How long do listings stay in the cache?", "Listings stay in the cache for nine minutes, then are fetched."]
    kept_talk(shop, "s7", said)
    found = answered("find", query=asked)
    assert ("nobody said" in found) is weak and "nine minutes" in found, found


def test_a_session_is_called_by_the_end_of_its_id(shop: Path) -> None:
    """An id of 36 characters behind a time of 20 is an eighth of what a hit has to say."""
    name = "rollout-2026-05-06T10-00-00-0199b26c-737a-71a2-9939-52ce68c95cbe"
    kept_talk(shop, name, ["Why does the zebra importer stall?", "The zebra importer stalls on a quagga header."])
    found = answered("find", query="why does the zebra importer stall?")
    assert "→ 52ce68c95cbe:2" in found
    assert "quagga" in answered("read", name="52ce68c95cbe:2")


@pytest.mark.parametrize("why", ["switched off", "no cache"])
def test_where_conversations_are_not_searched_nobody_says_that_there_are_none(shop: Path, why: str) -> None:
    if why == "switched off":
        assert call("config", "set", "search_conversations", "false")[0] == 0
    else:
        (place,) = Path(os.environ["XDG_CACHE_HOME"]).rglob("conversations")
        shutil.rmtree(place)
        place.write_text("a file where the folder should be")
    told = "".join(map(str, call("find", "zebra importer", "--project", str(shop))))
    assert "nothing is known of shop yet, and conversations were not searched" in told
    assert "nothing was said" not in told


def test_a_project_without_sessions_is_not_called_unread(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "Not indexed yet" sent people to build an index that has everything."""
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    assert "nothing was said in empty yet" in call("find", "zebra", "--project", str(empty))[1]
    (Path(os.environ["HOME"]) / ".manual_slop" / "knowledge").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(empty)
    told = answered("find", query="why does the zebra importer stall?")
    assert "nothing was said here yet" in told and "not indexed" not in told


def test_what_the_user_said_last_about_it_is_told_as_theirs(shop: Path) -> None:
    """A plan says one thing at length and the user overturned it in ten words much later: who is told the plan alone
    does the opposite of what holds."""
    plan = "\n".join(
        f"- The export dialog appends the server address to the copied command, rule {n}." for n in range(40)
    )
    said = ["Design the export dialog and the copied command.", plan, "And the colours?", "Blue, and the icons grey."]
    for number in range(12):
        said += [f"What of page {number}?", f"Page {number} lists the orders of that day, the newest of them first."]
    said += [
        "No server address in the copied command, that was on purpose.",
        "Taken out of the dialog and of the page.",
    ]
    kept_talk(shop, "s4", said)
    found = answered("find", query="does the export dialog append the server address to the copied command?")
    assert "user] No server address in the copied command, that was on purpose." in found and len(found) <= 3400


def test_a_session_and_the_index_of_its_prompts_are_one_hit(shop: Path) -> None:
    """Copies and histories tried one by one cost an agent a call each."""
    asked = "Why does the zebra importer skip every third invoice of the archive?"
    kept_talk(shop, "s5", [asked, "The zebra importer skips them because the archive numbers invoices from zero."])
    prompt = {"display": asked, "timestamp": 1766000000000, "project": str(shop), "sessionId": "s5"}
    (Path(os.environ["HOME"]) / ".claude" / "history.jsonl").write_text(json.dumps(prompt) + "\n")
    assert call("search", "--build", "--quiet")[0] == 0
    found = answered("find", query=asked)
    assert "from zero" in found and found.count("[conversation") == 1


def test_the_place_of_a_hit_is_never_taken_for_a_secret(shop: Path) -> None:
    """Behind "password is" stands the name of the session, and an agent must be able to read on there."""
    kept_talk(
        shop, "b4-b33d460b93-0", ["Where is the login password?", "It is off unless LOGIN_SECRET or the password is"]
    )
    assert "→ b4-b33d460b93-0:2" in answered("find", query="where is the login password set?")


def test_what_is_not_there_is_called_weak_and_is_short(shop: Path) -> None:
    """An agent that takes what stands beside a question for its answer is worse off than one that knows nothing."""
    found = answered("find", query="which broker and topic does the shop publish its invoices to at night")
    assert ("weak:" in found or "never said" in found) and len(found) < 1500
    assert "nobody said" in found and "broker" in found.rpartition("nobody said")[2], "which words are missing"
    assert "weak" not in answered("find", query="how are the release notes of the shop generated")


def test_a_name_that_nobody_said_makes_an_answer_weak(shop: Path) -> None:
    """All other words stand side by side, so the cache of another program passed for an answer."""
    kept_talk(shop, "s8", ["How long do listings stay in the cache?", "The cache keeps listings for nine minutes."])
    asked = "How long do listings stay in the Redis cache before they are fetched?"
    found = answered("find", query=asked)
    assert "weak:" in found and "nobody said redis" in found and "nine minutes" in found
    for said in (asked.replace("Redis ", ""), asked.replace("the Redis", "Codex's")):
        assert "weak" not in answered("find", query=said), said


def test_the_branch_of_a_session_is_told_where_one_is_asked_for(shop: Path) -> None:
    """It stands in the record of the session alone, and in none of its turns."""
    rows = [
        turn(role, [{"type": "text", "text": text}], at, "s8", shop) | {"gitBranch": "paint/fences"}
        for at, (role, text) in enumerate([("user", "Paint the fences."), ("assistant", "All fences are green.")])
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s8.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    told = answered("find", query="on which branch were the fences painted green?")
    assert "(session: began on paint/fences)" in told
    assert "paint/fences" not in answered("find", query="which colour have the fences?")


def test_who_asks_in_other_words_is_shown_which_sessions_there_are(shop: Path) -> None:
    """ "Never said" ended the search, though one look at the names of the sessions would have told where to read."""
    kept_talk(shop, "adding-a-receipt-printer", ["Add the receipt printer", "Done: it prints at 80 mm."])
    kept_talk(shop, "0f3a77c2", ["Which clips does the gallery refuse?", "Those without sound."])
    found = answered("find", query="what width has the gadget that draws slips for patrons")
    named = found.rpartition("sessions here:\n")[2]
    rows = [row.strip().partition(" ")[2] for row in named.split("\n")]
    assert "adding-a-receipt-printer" in rows and "“Which clips does the gallery refuse?” 0f3a77c2" in rows
    assert "Add the" not in named and len(named) < 700
    assert "sessions here" not in answered("find", query="how are the release notes of the shop generated")
    assert "sessions here" not in answered("find", query="gadget that draws slips", kind="fact"), "of lines was asked"


def test_words_of_the_answer_find_what_the_question_says_in_others(shop: Path) -> None:
    """Who asks weeks later does not use the words of then, but knows how such a thing may be called: 213 instead of 198
    of 351 points. Nothing is said of these words alone."""
    crates = [f"{wood} {form}" for wood in ("oak", "tin", "wax", "silk", "jute", "cork") for form in ("boxes", "jars")]
    talk = [
        (f"Where do the {one} go in the reshuffle?", f"The {one} go to shelf {at}.") for at, one in enumerate(crates)
    ]
    talk.insert(6, ("And that gadget?", "The receipt printer prints at 80 mm."))
    kept_talk(shop, "s9", [text for pair in (*talk, *talk) for text in pair])
    asked, likely = "what came of the slips in the reshuffle", 'receipts "printer" mm zeppelin yesterday'
    assert "80 mm" not in answered("find", query=asked) + call("find", asked)[1]
    page = answered("read", name="s9:2", query=asked, likely=likely, characters=500)
    found = answered("find", query=asked, likely=likely)
    assert "80 mm" in found and "80 mm" in page and "80 mm" in call("find", asked, "--likely", likely)[1]
    assert "zeppelin" not in found and "nobody said" in found and "stands nowhere" not in found
    assert "prints at 80 mm" in call("search", asked, "--likely", likely)[1]


def test_a_question_in_another_language_is_answered_by_words_of_the_answer(shop: Path) -> None:
    """None of its words was said; who asks knows what the answer is called in code."""
    kept_talk(shop, "s9", ["Is the draw fair?", "It used Math.random; crypto.getRandomValues with rejection is fair."])
    asked = "Welchen Zufallsgenerator nutzte die Seite zuerst, und wogegen wurde er getauscht?"
    assert "never said" in answered("find", query=asked)
    helped = answered("find", query=asked, likely="Math.random crypto.getRandomValues bias rejection sampling")
    assert "getRandomValues" in helped and "→ s9" in helped and "weak" in helped, helped


def test_words_of_the_answer_hide_nothing_that_the_question_finds(shop: Path) -> None:
    """They are guesses: most of them stand nowhere, and some in sessions about something else."""
    kept_talk(
        shop, "s9", ["Where does the quagga importer put its ledger?", "The quagga importer puts it into `till.db`."]
    )
    kept_talk(shop, "s8", ["Which logo do we take?", "The green whale; cookies of the session on kubernetes stay."])
    guesses = "kubernetes whale cookie sqlite postgres mysql redis kafka celery nginx https 8080 2026-10-21 yaml docker"
    for asked in ("where does the quagga importer put its ledger", "quaga ledger", "`till.db`"):
        plain, helped = answered("find", query=asked), answered("find", query=asked, likely=guesses)
        assert "till.db" in helped and "1. [conversation" in helped and "→ s9:" in helped, helped
        assert ("weak" in helped) == ("weak" in plain) and "whale" not in helped.partition("2. [")[0], helped
    days = "what did we do on 2026-05-09"
    assert answered("find", query=days, likely=guesses) == answered("find", query=days)
    listed = ("search", "--kind", "conversation", "--json")
    assert call(*listed, "--likely", guesses) == call(*listed)
    heard = call("search", "which logo do we take", "--likely", guesses)
    assert "weak" not in heard[1] + heard[2]


def test_a_long_question_is_not_weak_for_the_words_that_no_answer_repeats(shop: Path) -> None:
    """A mark that stands on right answers makes an agent search on; that the zebra importer was said is enough."""
    kept_talk(shop, "s8", ["Why does the zebra importer stall?", "The zebra importer stalls on a quagga header."])
    asked = (
        "I am about to hand the weekend release over to a colleague, who noticed that the zebra importer stalls "
        "whenever two warehouses deliver their monthly totals late and the operator restarts the terminal in between: "
        "is anything known about the reasons, and would splitting the spreadsheet into smaller archives help?"
    )
    found = answered("find", query=asked)
    assert "quagga" in found and "weak" not in found and "nobody said" not in found, "no answer says colleague"
    assert "weak:" in answered("find", query=asked.replace("zebra importer stalls", "tariff calculator rounds"))


def test_a_line_with_half_of_the_question_stands_before_a_long_session(shop: Path) -> None:
    """An agent had saved the version of go, and five sessions in which `.go` occurs stood in its place."""
    for at in range(6):
        kept_talk(
            shop, f"g{at}", [f"Which file does step {at} need?", f"The go file of step {at}, in another version."]
        )
    assert call("save", "The shop needs go 1.24 because of iterators")[0] == 0
    assert "\n1. [memory, " in answered("find", query="which go version does the shop need?")


def test_a_word_that_only_a_line_has_is_no_slip_of_the_hand(shop: Path) -> None:
    """It was taken for one that is spelled alike in a conversation, and the line was left out."""
    kept_talk(shop, "g1", ["What about the others?", "The others are listed in the table of prints."])
    assert call("add", "facts", "Otters sleep in the third hall")[0] == 0
    found = answered("find", query="otters")
    assert "Otters sleep" in found and "nobody said" not in found and "weak" not in found
    assert "taken for" not in answered("find", query='"ottars"')
    assert "it was taken for others" in answered("find", query="othrs")


def test_a_hit_that_does_not_fit_is_shortened_and_not_dropped(shop: Path) -> None:
    """What was left out of a long answer was the rule that holds, and there was room for most of it."""

    def words(start: int, number: int) -> str:
        return " ".join(f"part{at}x" for at in range(start, start + number))

    said = [f"The parcel printer jams on {words(at * 5, 5)}." for at in range(60)]
    asked = "Why does the parcel printer jam in the northern hall each winter morning?"
    kept_talk(shop, "s8", [asked, "\n".join(said)])
    kept = shop.parents[1] / ".manual_slop" / "knowledge"
    kept.mkdir(parents=True, exist_ok=True)
    rules = [
        f"The parcel printer jams on {words(400, 1)}.",
        f"The parcel printer jams on {words(420, 10)}. It is cleaned with {words(520, 12)}. So {words(600, 4)}",
    ]
    bullets = [f"- {rule} [from: claude_code/s8, 2026-05-06]\n" for rule in rules]
    (kept / "decisions.md").write_text("# Decisions\n\n" + "".join(bullets))
    found = answered("find", query=asked)
    shortened = [row for row in found.splitlines() if "[decision" in row and ". … → s8" in row]
    assert len(found) <= 3400 and len(shortened) == 1, found


@pytest.mark.parametrize(
    ("said", "reply", "asked", "shown"),
    [
        (
            "The badge belongs into a file of its own. Shall I create `Badge.jsx` for the badge?",
            "n",
            "which file did I turn down for the badge?",
            "3 user] n (to: Shall I create `Badge.jsx` for the badge?)",
        ),
        (
            "The badge can be drawn in three ways:\n1. with the icon font\n2. as an inline picture\n3. on a canvas",
            "go with 2",
            "how was the badge to be drawn?",
            "3 user] go with 2 (to: 2. as an inline picture)",
        ),
        (
            "A badge needs the whole table dropped first. Shall I create `Badge.jsx` for the badge?",
            "No, not a file.",
            "which file did I turn down for the badge?",
            "3 user] No, not a file (to: Shall I create `Badge.jsx` for the badge?)",
        ),
    ],
)
def test_a_short_reply_is_shown_with_what_it_answers(shop: Path, said: str, reply: str, asked: str, shown: str) -> None:
    """ "n" was left out, or stood alone: an agent named another proposal as the one that was refused."""
    kept_talk(
        shop, "s9", ["Where does the badge go?", said, reply, "Done.", "Thanks for the badge.", "You are welcome."]
    )
    assert shown in answered("find", query=asked)


def test_what_a_line_announces_is_shown_with_it(shop: Path) -> None:
    """The command that was asked for stood in the block below "run:", and the line that announces it was shown."""
    filler = [f"- Check {number} of the importer release was looked at." for number in range(60)]
    told = "After the importer release is merged, run this by hand:\n\n```bash\nmake backfill QUARTER=3\n```"
    kept_talk(shop, "s9", ["And the importer?", "\n".join([*filler, told, *filler]), "Good.", "Yes."])
    found = answered("find", query="what do I run by hand once the importer release is merged?")
    assert "run this by hand: make backfill QUARTER=3" in found and "```" not in found


def test_a_note_is_told_with_where_it_is_from(shop: Path) -> None:
    (shop / "app.py").write_text("pass\n")
    assert call("add", "files", "The retries are counted here", "--file", str(shop / "app.py"))[0] == 0
    [note] = [row for row in answered("notes", path="app.py").split("\n") if "retries" in row]
    assert re.fullmatch(r"- The retries are counted here \(from: [^][()]+, \d{4}-\d\d-\d\d\)", note), note


def test_a_question_about_days_is_told_what_is_of_these_days_alone(shop: Path) -> None:
    """Lines of other days that say "week" or "project" stood among what was done last week, and in its place."""
    noted = "- The nightly project list of last week is in docs [from: claude_code/s1, 2026-05-01]\n"
    (known := shop.parents[1] / ".manual_slop" / "knowledge").mkdir(parents=True)
    (known / "facts.md").write_text(f"# Facts\n\n{noted}")
    kept_talk(shop, "s4", ["Paint the nightly list.", "It is blue."])
    for days, since, before in (
        ("on 4 May 2026", "2026-05-04", "2026-05-05"),
        ("in May 2026", "2026-05", "2026-06"),
        ("last week", "last week", "this week"),
        ("in February 2026", "2026-02", "2026-03"),
    ):
        _, asked, _ = call("search", "what", "did", "I", "do", *days.split(), "in", "project", "shop")
        _, given, _ = call("search", "--project", "shop", "--since", since, "--before", before)
        rows = [[row for row in out.splitlines() if row[0].isdigit()] for out in (asked, given)]
        assert rows[0] == rows[1] and len(rows[0]) == {"on 4 May 2026": 1, "in May 2026": 2}.get(days, 0), asked
        assert asked.count("understood as") == 1 and "nobody said" not in asked and "nightly project" not in asked
    assert "s4:1" in (found := call("find", "the nightly list on 4 May 2026, what was it")[1]) and "docs" in found
    assert "in docs" in call("find", "nightly list last week")[1], "where those days have none, any day"


def test_without_words_the_days_of_the_sessions_and_their_titles_are_told(shop: Path) -> None:
    """ "Never said" of days without a session; and of one that begins with a "q" nobody knows what it is."""
    rows = [turn("user", "q", 0, "s4", shop), turn("assistant", [{"type": "text", "text": "Locked."}], 1, "s4", shop)]
    kept("s4", [*rows, {"type": "summary", "summary": "Lock of the importer", "leafUuid": "s4-1"}])
    for command in ("find", "search"):
        _, out, said = call(command, "--project", "shop", "--since", "2026-05-20", "--before", "2026-06")
        told = out + said
        assert told.count("no session of this project from 2026-05-20 to 2026-05-31; the newest is of 2026-05-04") == 1
        assert "never said" not in told and "says this" not in told
        assert "shop] Lock of the importer → s4:1" in call(command, "--project", "shop", "--since", "2026-05-03")[1]
        status, _, said = call(command, "--since", "2026-05-04", "--before", "2026-05-04")
        assert (status, "no day is from 2026-05-04 and before 2026-05-04" in said) == (2, True), "it is no answer"


def test_only_sessions_of_this_project_are_in_another_language_here(shop: Path, tmp_path: Path) -> None:
    """Who was told to ask in Chinese found no Chinese session in the project: the hit was of another one."""
    (other := tmp_path / "work" / "farm").mkdir()
    told = "zeppelin 导入程序每天晚上都会重复写入所有的行，因为账本被打开了两次。"
    kept(
        "s5",
        [
            turn("user", "zeppelin 为什么重复写入？", 0, "s5", other),
            turn("assistant", [{"type": "text", "text": told}], 1, "s5", other),
        ],
    )
    out = call("find", "zeppelin")[1]
    assert "账本" in out and "another language" not in out
    assert "another language" in call("find", "zeppelin", "--project", str(other))[1]


def test_unknown_never_said_and_a_missing_phrase_are_told_apart(shop: Path) -> None:
    assert "no project of that name is known" in call("find", "notes", "--project", "nowhere")[2]
    assert "never said" in call("find", "zeppelin", "--project", "shop")[1]
    assert "'purple elephant' stands nowhere" in call("find", '"purple elephant" notes')[1]


def test_that_nobody_said_a_phrase_comes_before_what_has_most_of_its_words(shop: Path) -> None:
    """Whoever looks for exact words took the first line for them; what shares one common word is no answer at all."""
    for out in (call("find", '"purple elephant notes"')[1], answered("find", query='"purple elephant notes"')):
        assert "(the phrase 'purple elephant notes' stands nowhere" in out and "1. [" not in out
    out = call("find", '"the notes of the release"')[1]
    assert "stands nowhere" in out.splitlines()[0] and "weak" in out.splitlines()[1] and "→ s1:" in out.splitlines()[2]
    assert call("find", '"release notes for the shop"')[1].startswith("1. [")
    assert json.loads(call("find", "--json", '"purple elephant notes"')[1])["note"].startswith("the phrase")


def test_what_connect_wrote_can_be_run_as_the_tool_would(shop: Path) -> None:
    """Whoever connected a tool wants to see it work before the next session."""
    assert call("connect", "claude_code", "--yes")[0] == 0
    code, out, _ = call("connect", "claude_code", "--check")
    assert code == 0 and out.count("works (") == 6 and "does not work" not in out, out
    settings, record = (next(Path(os.environ["HOME"]).rglob(name)) for name in (".claude/settings.json", "record.json"))
    whole = settings.read_text()
    settings.write_text(whole.replace("hint.py claude_code", "hint.py another"))
    out = call("connect", "claude_code", "--check")[1]
    assert out.count("works (") == 2 and out.count("is not found in") == 4, "what is gone does not work"
    for file in (settings, record):
        file.write_text(file.read_text().replace(sys.executable, "/gone/bin/python"))
    settings.write_text(whole.replace(sys.executable, "/gone/bin/python"))
    out = call("connect", "claude_code", "--check")[1]
    assert "hints (PreCompact): does not work: it starts /gone/bin/python, which is not there any more" in out, out
    for file in (settings, record):
        file.write_text(file.read_text().replace("context --hook claude_code", f"--version; env > {shop}/said"))
    out = call("connect", "claude_code", "--check")[1]
    assert "context at the start (SessionStart): works (" in out, out
    assert "KNOWLEDGE_CHECK=1" in (shop / "said").read_text(), "no harvest is begun for it"


def test_of_several_things_of_which_one_is_unknown_none_is_written_down(shop: Path) -> None:
    """The agent read an error, said it again without that one, and the others had helped twice."""
    assert "no bullet" in answered("worked", what=["s1:2", "nobody knows this"], outcome="win")
    assert "not used yet" in answered("worked", what=["s1:2"])
    assert "helped 1×" in answered("worked", what=["s1:2"], outcome="win")


def test_a_session_of_which_nothing_was_shown_is_read_with_its_head(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hit for which there was no room counted as shown: who read it was told that much of it was left out."""
    monkeypatch.setattr("core.mcp_server.moment.FOUND", 800)
    asked = "What of the ledger of the shop, and its importer?"
    for number in range(3, 7):
        said = f"The ledger of shop {number} has rows which the importer of shop {number} wrote on day {number}. "
        more = f"By the way, importer {number} of the shop reads the ledger at noon, row by row, and then sleeps."
        asks = f"What of the ledger of shop {number}, and its importer?"
        kept_talk(shop, f"s{number}", [asks, said * 3, f"And what of importer {number}?", more])
    found = answered("find", query=asked)
    assert "more did not fit" in found and "→ s3" in found, found
    for number in range(3, 7):
        head = answered("read", name=f"s{number}", query=asked).splitlines()[1]
        assert ("what was shown before" in head) == (f"→ s{number}" in found), head


def test_a_turn_of_any_length_is_read_page_by_page(shop: Path) -> None:
    """What was left out of the middle of a long turn no call told."""
    words = [f"part{at}x" for at in range(9_000)]
    kept_talk(shop, "s9", [" ".join(words), "Good."])
    page, seen = answered("read", name="s9:1", characters=30_000), set[str]()
    for _ in range(9):
        seen.update(re.findall(r"part\d+x", page))
        more = re.search(r"more of this turn: read (s9:1@\d+)", page)
        if more is None:
            break
        page = answered("read", name=more[1], characters=30_000)
    assert len(seen.intersection(words)) >= len(words) - 8, "a word at a page's edge may be cut"
    short = answered("read", name="s9:1", characters=500)
    assert "part0x" in short and len(short) <= 1000
