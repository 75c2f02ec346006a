"""The page of `densevse search --serve`, over HTTP and in a real browser."""

import io
import json
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from densevse.analyses.searches import dag, server
from densevse.analyses.searches.tests.served import SENTENCES, TOP, found, photographs_of, running, served
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.browser import WIDTHS, browser
from tests.inference.models import project
from tests.projects import ROOT

__all__ = ["browser", "project"]


@pytest.fixture(scope="module")
def vse(project, tmp_path_factory):
    with running(served(project, tmp_path_factory.mktemp("vse"), "vse")) as site:
        yield site


@pytest.fixture(scope="module")
def hm_lstm(project, tmp_path_factory):
    with running(served(project, tmp_path_factory.mktemp("hm_lstm"), "hm_lstm")) as site:
        yield site


def asked(site, sentence):
    reply = site.ask(f"answers?sentence={quote(sentence)}")
    return reply.status, json.loads(reply.body)


def test_answers_to_a_sentence_are_those_of_the_job(vse, tmp_path):
    for sentence in ("a red dog", "A small ZEBRA\n sleeps"):
        status, answer = asked(vse, sentence)
        rows = found(vse.served.model, vse.served, tmp_path, "sentences", [sentence])
        assert status == 200
        assert [one["image"] for one in answer["answers"]] == rows["image_id"].tolist()
        assert [one["score"] for one in answer["answers"]] == rows["score"].tolist()
        assert [one["rank"] for one in answer["answers"]] == rows["rank"].tolist() == [1, 2, 3]
        assert answer["unknown"] == list(rows["unknown_words"].iloc[0])
    assert answer["unknown"] == ["zebra"]


def test_each_answer_has_its_picture(vse, project):
    _, answer = asked(vse, "a red dog")
    for one in answer["answers"]:
        reply = vse.ask(f"photographs/{one['row']}")
        assert (reply.status, reply.headers["Content-Type"]) == (200, "image/jpeg")
        with Image.open(io.BytesIO(reply.body)) as shown, Image.open(project / "photographs" / one["image"]) as there:
            assert max(shown.size) == 480
            small = np.asarray(shown.resize(there.size, Image.Resampling.BOX), int)
            assert abs(small - np.asarray(there, int)).mean() < 20


def test_answers_to_a_photograph_are_those_of_the_job(vse, project, tmp_path):
    rows = found(vse.served.model, vse.served, tmp_path, "photographs")
    for query, photograph in enumerate(photographs_of(project)):
        reply = vse.ask("answers", photograph.read_bytes())
        expected = rows[rows["query"] == query]
        assert reply.status == 200
        answers = json.loads(reply.body)["answers"]
        assert [one["text"] for one in answers] == expected["text"].tolist()
        assert [one["score"] for one in answers] == pytest.approx(expected["score"].tolist(), abs=1e-5)
    assert set(rows["text"]) <= set(SENTENCES)


def test_a_model_of_regions_shows_those_of_the_phrases_and_refuses_photographs(hm_lstm, tmp_path):
    sentence = "a red ball floats above a blue box"
    status, answer = asked(hm_lstm, sentence)
    assert status == 200, answer
    rows = found(hm_lstm.served.model, hm_lstm.served, tmp_path, "sentences", [sentence])
    assert [one["image"] for one in answer["answers"]] == rows["image_id"].tolist()
    assert [one["score"] for one in answer["answers"]] == rows["score"].tolist()
    halves, thirds = [0.5, 0, 0.5, 0.5], [2 / 3, 0, 1 / 3, 1 / 3]
    for one in answer["answers"]:
        assert [phrase["phrase"] for phrase in one["phrases"]] == ["a red ball", "a blue box"]
        assert all(
            phrase["box"] == pytest.approx(halves) or phrase["box"] == pytest.approx(thirds)
            for phrase in one["phrases"]
        )
    refused = hm_lstm.ask("answers", b"a photograph")
    assert refused.status == 400
    assert "A photograph cannot be asked. This model reads regions of images" in json.loads(refused.body)["error"]
    assert b'<fieldset id="asking" data-largest="33554432" disabled>' in hm_lstm.ask("").body


def test_the_region_of_a_phrase_is_the_one_that_the_method_assigns(hm_lstm, monkeypatch):
    """Here the last region of each image."""
    method = hm_lstm.searcher._method
    monkeypatch.setattr(method, "assign", lambda regions, present, phrases: (present.sum(1) - 1, phrases[:, 0]))
    _, answer = asked(hm_lstm, "a red ball floats above a blue box")
    boxes = [phrase["box"] for one in answer["answers"] for phrase in one["phrases"]]
    assert np.allclose(boxes, [2 / 3, 0, 1 / 3, 1 / 3])
    sure = [[phrase["confidence"] for phrase in one["phrases"]] for one in answer["answers"]]
    assert sure == [sure[0]] * TOP


def test_a_sentence_without_phrases_of_its_own_has_answers(hm_lstm):
    _, answer = asked(hm_lstm, "a red ball")
    assert [one["phrases"] for one in answer["answers"]] == [[]] * TOP


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", "The sentence is empty"),
        (" \n ", "The sentence is empty"),
        ("zebra", "the model knows no word of 'zebra'"),
        ("a" * 501, "The sentence has 501 characters; type at most 500"),
    ],
)
def test_what_is_no_sentence_is_refused(sentence, said, vse):
    status, answer = asked(vse, sentence)
    assert status == 400
    assert said in answer["error"]
    assert asked(vse, "a dog")[0] == 200


def test_a_sentence_outside_the_grammar_says_why(hm_lstm):
    status, answer = asked(hm_lstm, "a dog runs")
    assert status == 400
    assert "'a dog runs' (not in the grammar's lexicon: dog runs) could not be parsed" in answer["error"]


@pytest.mark.parametrize(("data", "said"), [(b"", "not an image"), (b"\xff\xd8\xff no picture", "not an image")])
def test_what_is_no_photograph_is_refused(data, said, vse):
    reply = vse.ask("answers", data)
    assert reply.status == 400
    assert f"the photograph: {said}" in json.loads(reply.body)["error"]


def test_a_file_that_is_too_large_is_refused(vse, monkeypatch):
    monkeypatch.setattr(server, "LARGEST_FILE", 1000)
    assert vse.ask("answers", bytes(1001)).status == 413
    assert vse.ask("answers", bytes(1000)).status == 400


def test_without_the_token_nothing_is_served(vse):
    token = vse.site.address.split("/")[3]
    assert len(token) > 20
    for address in (
        "/",
        "/page.js",
        "/answers?sentence=a+dog",
        "/photographs/0",
        f"/{token}",
        f"/{token[:-1]}/",
        "/é/",
    ):
        reply = vse.ask_at(quote(address, safe="/?=+"))
        assert reply.status == 403, address
        assert token.encode() not in reply.body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""])
def test_another_host_is_refused(host, vse):
    assert vse.ask("", Host=host.format(port=vse.site.port)).status == 403
    assert vse.ask("", Host=f"localhost:{vse.site.port}").status == 200


def test_another_origin_is_refused(vse):
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{vse.site.port}"):
        assert vse.ask("answers?sentence=a+dog", Origin=origin).status == 403
        assert vse.ask("answers", b"", Origin=origin).status == 403
    assert vse.ask("answers?sentence=a+dog", Origin=f"http://localhost:{vse.site.port}").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "photographs/../page.js",
        "photographs/..%2f..%2f0.png",
        "photographs/0.png",
        "photographs/-1",
        "photographs/6",
        "photographs/99999999999999999999",
        "page.html",
        "server.py",
        "//etc/passwd",
    ],
)
def test_no_other_path_is_served(path, vse):
    assert vse.ask(path).status == 404


def test_other_methods_are_refused(vse):
    assert vse.ask("photographs/0", b"").status == 405


def test_every_reply_forbids_what_the_page_does_not_need(vse):
    for reply in (vse.ask(""), vse.ask("page.js"), vse.ask("photographs/0"), vse.ask("nothing"), vse.ask_at("/")):
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in reply.headers
    assert b"<title>A search &lt;of&gt; six</title>" in vse.ask("").body


def test_a_port_that_is_used_or_none_is_refused(vse):
    for port in (vse.site.port, 70_000):
        with pytest.raises(InputError, match=f"--port: {port} cannot be used"):
            server.open_server(vse.site, port)


def test_only_this_machine_can_ask(vse):
    assert vse.server.server_address == ("127.0.0.1", vse.site.port)


def test_a_variant_whose_sentences_corenlp_parses_is_refused():
    for variant, refused in (("vse", False), ("hm_lstm", True)):
        entry = {"dataset": "flickr8k", "variant": variant, "sentences": ["a dog"]}
        stage = Stage(Project(ROOT, {"searches": {"page": entry}}), dag)
        if refused:
            with pytest.raises(InputError, match=r"--serve: hm_lstm reads parses, and corenlp\w* would have to be"):
                stage.server_inputs("page")
        else:
            reads = stage.server_inputs("page")
            assert reads.model == "results/flickr8k/models/vse/seed0/round0/model.safetensors"
            assert reads.encodings == "results/flickr8k/encodings/vse/seed0/round0/test.parquet"
            assert {reads.encodings, "results/flickr8k/captions.parquet"} <= set(reads.made)


def test_the_server_of_ones_own_photographs_makes_no_photographs(tmp_path):
    entry = {"dataset": "scenes", "variant": "hm_lstm", "sentences": ["a dog"], "photographs": str(tmp_path)}
    reads = Stage(Project(ROOT, {"searches": {"page": entry}}), dag).server_inputs("page")
    assert reads.sources == {"photographs": str(tmp_path)}
    assert str(tmp_path) not in reads.made
    assert reads.encodings.startswith("results/search/photographs/scenes/")
    assert reads.sentences["caption_table"] == "results/scenes/captions.parquet"


LOADED = (
    f"document.querySelectorAll('li img').length === {TOP} && [...document.images].every((one) => one.naturalWidth)"
)


@pytest.fixture(scope="module")
def without_weights(project, tmp_path_factory):
    """A search whose model is in a folder without the weights of its network."""
    folder = tmp_path_factory.mktemp("without")
    reads = served(project, folder, "vse")
    copied = Path(shutil.copytree(Path(reads.model).parent, folder / "round0"))
    (copied / "vocabulary").mkdir()
    shutil.copy(reads.sentences["words"], copied / "vocabulary/words.parquet")
    return reads._replace(model=str(copied / "model.safetensors"))


def test_weights_that_the_configuration_names_are_used(without_weights, project, vse):
    weights = project / "resources/tiny/tiny.pth"
    with running(without_weights._replace(local={"tiny": str(weights)})) as site:
        replies = [one.ask("answers", photographs_of(project)[0].read_bytes()) for one in (site, vse)]
    assert [reply.status for reply in replies] == [200, 200]
    assert replies[0].body == replies[1].body
    with running(without_weights._replace(local={"tiny": "gone.pth", "other": str(weights)})) as site:
        assert site.searcher.photographs is None
    entry = {"dataset": "scenes", "variant": "vse", "sentences": ["a dog"]}
    changed = {"searches": {"page": entry}, "networks": {"mobilenet_v2": {"local": "mine.pth"}}}
    assert Stage(Project(ROOT, changed), dag).server_inputs("page").local == {"mobilenet_v2": "mine.pth"}


def test_what_is_missing_is_said_in_the_terminal_and_not_on_the_page(without_weights, capfd):
    with running(without_weights) as site:
        page, reply = site.ask("").body.decode(), site.ask("answers", b"x").body.decode()
    said = "A photograph cannot be asked. Its network is not at hand: see the terminal of this page."
    assert said in page
    assert said in reply
    assert not re.search(r"[0-9a-f]{64}|load\(|(?<![.\w<])/(tmp|home|root|var)\b", page + reply)
    assert "Or name it as `local` of the network in the files of --configfile." in capfd.readouterr().err


LONG = "unbreakable" * 40
"""A word that is wider than a telephone."""


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_can_be_read_and_reached_whatever_it_says(browser, vse, hm_lstm, without_weights, width):
    for site, sentence in ((vse, "a+red+zebra"), (hm_lstm, "a+red+ball+floats+above+a+blue+box")):
        browser.open(f"{site.site.address}?sentence={sentence}", width)
        browser.wait(LOADED)
        assert browser.page_faults(width) == []
        browser.run(f"say('{LONG}', true)")
        assert browser.page_faults(width) == []
        browser.run(f"document.querySelectorAll('h1, label, li div').forEach((one) => one.append('{LONG}'))")
        assert browser.page_faults(width) == []
    with running(without_weights) as site:
        browser.open(site.site.address, width)
        browser.run(f"document.querySelector('fieldset p').append('{LONG}')")
        assert browser.page_faults(width) == []


@pytest.mark.slow
def test_a_sentence_is_asked_by_keyboard_in_a_browser(browser, vse):
    browser.open(vse.site.address)
    assert browser.run("document.activeElement.id") == "sentence"
    browser.type("a red zebra")
    browser.press("Enter")
    browser.wait(LOADED)
    said = browser.run("document.querySelector('[role=status]').textContent")
    assert said == "3 answers, the best first. Words that the model does not know: zebra."
    _, answer = asked(vse, "a red zebra")
    shown = browser.run("[...document.querySelectorAll('li')].map((one) => one.innerText.trim())")
    assert shown == [f"{one['rank']}. {one['image']} score {one['score']:.3f}" for one in answer["answers"]]
    for focused in ("BUTTON", "photograph"):
        browser.press("Tab")
        assert focused in browser.run("[document.activeElement.tagName, document.activeElement.id]")
    browser.call("Page.reload")
    browser.wait(LOADED)


@pytest.mark.slow
def test_a_photograph_is_chosen_in_a_browser_and_a_wrong_one_is_named(browser, vse, project, tmp_path):
    browser.open(vse.site.address)
    browser.choose("#photograph", photographs_of(project)[0])
    browser.wait(f"document.querySelectorAll('ol.sentences li').length === {TOP}")
    assert browser.run("document.querySelector('img.asked').alt") == "the photograph 0.png"
    (tmp_path / "notes.png").write_text("no picture")
    browser.choose("#photograph", tmp_path / "notes.png")
    browser.wait("document.querySelector('#said.wrong')")
    assert "not an image" in browser.run("document.querySelector('#said').textContent")
    assert browser.run("document.querySelector('#answers').childElementCount") == 0


DROP = """fetch("photographs/2").then((reply) => reply.blob()).then((picture) => {
  const data = new DataTransfer();
  data.items.add(new File([picture], "dropped.jpg"));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
})"""


@pytest.mark.slow
def test_a_photograph_is_dropped_in_a_browser(browser, vse, hm_lstm):
    browser.open(vse.site.address)
    browser.run(DROP)
    browser.wait(f"document.querySelectorAll('ol.sentences li').length === {TOP}")
    assert browser.run("document.querySelector('img.asked').alt") == "the photograph dropped.jpg"
    browser.open(hm_lstm.site.address)
    browser.run(DROP)
    assert browser.run("document.querySelector('#said').textContent") == "", "asked although it cannot be"


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_regions_are_drawn_in_a_browser_and_nothing_scrolls_sideways(browser, hm_lstm, width):
    browser.open(f"{hm_lstm.site.address}?sentence=a+red+ball+floats+above+a+blue+box", width)
    browser.wait(LOADED)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('svg rect').length") == 2 * TOP
    inside = "[...document.querySelectorAll('.picture')].every((one) => {"
    inside += "const [a, b] = ['img', 'svg'].map((name) => one.querySelector(name).getBoundingClientRect());"
    inside += "return Math.abs(a.width - b.width) < 1 && Math.abs(a.height - b.height) < 1; })"
    assert browser.run(inside)
    phrases = browser.run(
        "[...document.querySelectorAll('li li')].map((one) => one.textContent.replace(/ [^ ]+$/, ''))"
    )
    assert phrases == ["a red ball", "a blue box"] * TOP
    assert browser.run("document.querySelector('#photograph').getClientRects().length") == 0
    wrong = [one for one in browser.logged if "favicon" not in json.dumps(one) and "400" not in json.dumps(one)]
    assert wrong == []
