"""The real server, if there is Java: bad input, a server that is killed, one that hangs."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
import requests

from densevse.config.datasets import CoreNLP
from densevse.language import corenlp
from densevse.language.corenlp import CoreNLPParser, heap_mb, parse_by_corenlp
from densevse.language.tokens import tokenize
from densevse.language.trees import phrases, read_tree
from densevse.language.triplets import triplets
from snakeproof.errors import InputError

SHIFT_REDUCE = {"model": "edu/stanford/nlp/models/srparser/englishSR.ser.gz", "longest": 500}
PCFG = {"model": "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz", "longest": 100}


@pytest.fixture(scope="module")
def parser(corenlp_home, tmp_path_factory):
    """One PCFG server for all tests, from a folder whose name has signs of a shell's and of Java's in it.

    It is started in a folder that stays empty.
    """
    home = tmp_path_factory.mktemp("Core NLP") / "user's: $jars"
    home.symlink_to(corenlp_home, target_is_directory=True)
    here = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        with CoreNLPParser(CoreNLP(**{**PCFG, "timeout": 40, "batch": 4}), home, 1500, 2) as parser:
            yield parser
        assert list(here.iterdir()) == []


def words(parse):
    assert parse.status == "ok"
    return " ".join(parse.tokens)


def test_a_caption(parser):
    (parse,) = parser.parse(["Two dogs chased a red ball ."])
    assert parse.status == "ok"
    assert parse.tokens == ["Two", "dogs", "chased", "a", "red", "ball", "."]
    assert parse.lemmas == ["two", "dog", "chase", "a", "red", "ball", "."]
    assert parse.tags == ["CD", "NNS", "VBD", "DT", "JJ", "NN", "."]
    assert parse.tree == ("(ROOT (S (NP (CD Two) (NNS dogs)) (VP (VBD chased) (NP (DT a) (JJ red) (NN ball))) (. .)))")
    assert set(parse.basic_dependencies) == {
        ("ROOT", -1, 2),
        ("nummod", 1, 0),
        ("nsubj", 2, 1),
        ("det", 5, 3),
        ("amod", 5, 4),
        ("obj", 2, 5),
        ("punct", 2, 6),
    }
    assert len(parse.enhanced_dependencies) == 7


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("dog", "dog"),
        ("...", "..."),
        ("! ? .", "! ? ."),
        ("a dog 😀", "a dog 😀"),
        ("100% of %25 %41", "100 % of % 25 % 41"),
        ("a+b & c=3", "a + b & c = 3"),
        ("a (small) [red] {ball} :-) :(", "a ( small ) [ red ] { ball } :-) :("),
        ("<b>a dog</b>", "<b> a dog </b>"),
        ("a dog\nruns\u2028off\x0bhome", "a dog runs off home"),
        ("a dog. It runs! Yes", "a dog . It runs ! Yes"),
        ("  a   dog  ", "a dog"),
        ("1 1/2 dogs", "1\xa01/2 dogs"),
        ("a dog doesn’t run… it’s “his”", "a dog does n't run ... it 's \" his \""),
    ],
)
def test_every_text_is_one_sentence_with_the_same_words(parser, text, tokens):
    (parse,) = parser.parse([text])
    assert words(parse) == tokens
    assert sum(read_tree(parse.tree).token >= 0) == len(parse.tokens) == len(parse.tags)


@pytest.mark.parametrize("text", ["", "   ", "\n", "\u200b\ufeff", "\u2028"])
def test_a_text_without_words_is_recorded(parser, text):
    (parse,) = parser.parse([text])
    assert parse.status == "no words"
    assert parse.tokens == []


def test_a_caption_of_300_words_is_recorded_and_its_neighbours_are_parsed(parser):
    first, longest, last = parser.parse(["a dog", "a red ball and " * 75, "a cat"])
    assert (words(first), words(last)) == ("a dog", "a cat")
    assert longest.status == "300 tokens are more than the 100 that the parser takes"
    assert longest.tree == ""


def test_a_caption_that_is_one_noun_phrase_has_no_phrase_but_those_inside(parser):
    whole, nested = parser.parse(["a brown dog", "a dog on the grass"])
    assert list(phrases(read_tree(whole.tree))) == []
    tree = read_tree(nested.tree)
    assert [(tree.start[node], tree.end[node]) for node in phrases(tree)] == [(0, 2), (3, 5)]


def test_order_and_repetition(parser):
    texts = [f"{count} dogs" for count in ("two", "three", "four", "two", "five", "six", "two", "seven")]
    parses = parser.parse([*texts, "  "])
    assert [" ".join(parse.tokens) for parse in parses] == [*texts, ""]


@pytest.mark.long
def test_a_server_killed_at_work_is_started_again_and_nothing_is_lost(parser):
    texts = [f"a man with {count} dogs and a red ball runs over the green grass" for count in range(40)]
    before = parser._server.process.pid
    killer = threading.Timer(0.5, parser._server.process.kill)
    killer.start()
    parses = parser.parse(texts)
    killer.join()
    assert parser._server.process.pid != before
    assert [words(parse) for parse in parses] == texts


@pytest.mark.long
def test_a_server_that_hangs_is_started_again(parser, monkeypatch):
    before = parser._server.process.pid
    monkeypatch.setattr(parser._client, "timeout", 500)  # milliseconds; stanza waits twice as long
    monkeypatch.setattr(corenlp, "PING_SECONDS", 1)
    parser._server.process.send_signal(signal.SIGSTOP)
    assert [words(parse) for parse in parser.parse(["a dog", "a cat"])] == ["a dog", "a cat"]
    assert parser._server.process.pid != before


def test_the_sentence_that_breaks_the_server_is_found_and_recorded(parser, monkeypatch):
    send, sent = parser._send, []

    def break_over_a_cat(batch):
        sent.append(batch)
        if "a cat" in batch:
            raise corenlp._RequestError("broken")
        return send(batch)

    monkeypatch.setattr(parser, "_send", break_over_a_cat)
    texts = ["a dog", "a bird", "a cat", "a cow", "a horse", "two dogs", "two cows", "a ball", "balls"]
    parses = parser.parse(texts)
    assert [parse.status for parse in parses] == ["ok", "ok", "broken", *["ok"] * 6]
    # Sent again whole, then in halves.
    assert sent.count(texts[:4]) == 2
    assert ["a cat", "a cow"] in sent


@pytest.mark.parametrize("properties", [{}, {"parse.model": "http://localhost:9/model.gz"}])
@pytest.mark.parametrize("login", [None, ("densevse", "wrong")])
def test_no_request_of_others_is_annotated(parser, properties, login):
    asked = {"properties": str(properties)}
    with requests.Session() as session:
        session.trust_env = False
        for context in ("", "/tokensregex", "/semgrex", "/tregex", "/scenegraph"):
            answer = session.post(f"{parser._server.endpoint}{context}", "a dog", params=asked, auth=login)
            assert (answer.status_code, answer.text) == (401, "")


def test_lines_that_are_lost_are_asked_for_one_by_one(parser, monkeypatch):
    annotate = parser._annotate

    def lose_a_sentence(client, text, properties):
        return annotate(client, text, properties)[: 1 if not properties else None]

    monkeypatch.setattr(parser, "_annotate", lose_a_sentence)
    assert [words(parse) for parse in parser.parse(["a dog", "a cat. It runs"])] == ["a dog", "a cat . It runs"]


@pytest.mark.long
def test_a_server_that_keeps_dying_is_given_up(parser, monkeypatch):
    # The last of the tests that share the server, which is gone afterwards.
    monkeypatch.setattr(corenlp, "MOST_RESTARTS", parser.restarts)
    parser._server.process.kill()
    with pytest.raises(InputError, match="memory_mb"):
        parser.parse(["a dog"])


@pytest.mark.long
def test_a_server_ends_with_its_parser(corenlp_home):
    started = time.monotonic()
    with CoreNLPParser(CoreNLP(**SHIFT_REDUCE), corenlp_home, 2000, 1) as parser:
        (long, caption) = parser.parse(["a red ball and " * 75, "a dog"])
        process = parser._server.process
    assert process.poll() is not None
    assert words(caption) == "a dog"
    assert len(long.tokens) == 300  # shift-reduce takes a caption of 300 words
    assert time.monotonic() - started < 300


@pytest.mark.long
def test_a_model_that_is_not_there_is_named(corenlp_home):
    options = CoreNLP(model="no/such/model.ser.gz", longest=100)
    with pytest.raises(InputError, match=r"no/such/model\.ser\.gz"), CoreNLPParser(options, corenlp_home, 1000, 1):
        pass


def test_a_folder_without_jars_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(corenlp, "require_java", lambda memory_mb: None)
    with pytest.raises(InputError, match="CORENLP_HOME"), CoreNLPParser(CoreNLP(**PCFG), tmp_path, 1000, 1):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "A dog runs. It is brown.",
        'A man says "it runs." (It stops.) Then he smiles',
        "It is the man's. It doesn't run. 5. 6.",
        "Mr. X jr. and the u. of s.c.u.b.a. etc. win",
        "no. 5 says no. It runs... it stops",
    ],
)
def test_several_sentences_are_cut_as_by_corenlp(parser, text):
    (parse,) = parser.parse([text])
    assert tokenize(text) == [token.lower() for token in parse.tokens]


def test_the_dependencies_of_2014_come_with_the_same_words_tags_and_tree(parser, corenlp_home):
    texts = ["A man and a dog stand in front of a house .", "100% of (two) dogs :(", " ", "It runs over and under it"]
    with CoreNLPParser(CoreNLP(**PCFG), corenlp_home, 1500, 1, original=True) as other:
        found = other.parse(texts)
    for ours, today in zip(found, parser.parse(texts), strict=True):
        assert [ours.status, ours.tokens, ours.lemmas] == [today.status, today.tokens, today.lemmas]
        assert [ours.tags, ours.tree] == [today.tags, today.tree]
    named = set(triplets(found[0].tokens, found[0].enhanced_dependencies))
    assert {("conj_and", "man", "dog"), ("nsubj", "stand", "dog"), ("prep_in_front_of", "stand", "house")} <= named
    assert {relation for relation, *_ in named} == {"conj_and", "nsubj", "prep_in_front_of", "det"}
    basic = {relation for relation, *_ in found[0].basic_dependencies}
    assert {"ROOT", "prep", "pobj", "cc", "conj"} <= basic
    assert ("ROOT", -1, 5) in found[0].enhanced_dependencies


def test_the_jars_may_lie_in_a_folder_of_any_name_but_not_the_temporary_one(tmp_path, monkeypatch):
    """Without Java: the command by which it would be started, in which no secret stands."""
    started = []
    monkeypatch.setattr(corenlp, "require_java", lambda memory_mb: None)
    monkeypatch.setattr(corenlp.subprocess, "Popen", lambda command, **streams: started.append(command))

    def start(parser):
        parser._server = corenlp.Server(parser._properties, parser._jars, 1000, 1, Path(parser._folder.name))

    monkeypatch.setattr(CoreNLPParser, "_start", start)
    home = tmp_path / "user's: $jars"
    home.mkdir()
    (home / "stanford-corenlp-4.jar").touch()
    monkeypatch.setattr(CoreNLPParser, "__exit__", lambda parser, *_: parser._folder.cleanup())
    with CoreNLPParser(CoreNLP(**PCFG), home, 1000, 1) as parser:
        (command,) = started
        classpath = command[command.index("-cp") + 1]
        assert ":" not in classpath
        assert Path(classpath.removesuffix("/*")).samefile(home)
        properties = Path(command[command.index("-props") + 1])
        assert (properties.stat().st_mode & 0o777, properties.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        for secret in parser._server._login.values():
            assert secret in properties.read_text()
            assert secret not in " ".join(command)
    assert (home / "stanford-corenlp-4.jar").exists()
    (tmp_path / "a:b").mkdir()
    monkeypatch.setattr(corenlp.tempfile, "tempdir", str(tmp_path / "a:b"))
    with pytest.raises(InputError, match="TMPDIR: "), CoreNLPParser(CoreNLP(**PCFG), home, 1000, 1):
        pass


@pytest.mark.parametrize(
    ("before", "hosts"),
    [
        ({}, ["localhost", "127.0.0.1"]),
        ({"no_proxy": "corp.example"}, ["corp.example", "localhost", "127.0.0.1"]),
        ({"NO_PROXY": "corp.example, x"}, ["corp.example", "x", "localhost", "127.0.0.1"]),
        ({"no_proxy": "a,localhost", "NO_PROXY": "b"}, ["a", "localhost", "b", "127.0.0.1"]),
    ],
)
def test_the_server_is_asked_without_a_proxy_whichever_variable_names_hosts(before, hosts, monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"http_proxy": "http://proxy.example:3128", **before}.items():
        monkeypatch.setenv(name, value)
    corenlp._bypass_proxies_for_localhost()
    assert os.environ["no_proxy"].split(",") == os.environ["NO_PROXY"].split(",") == hosts
    assert not requests.utils.get_environ_proxies("http://localhost:9000/ping")


def test_a_job_with_too_little_memory_is_refused():
    assert heap_mb(3500) == 2500
    with pytest.raises(InputError, match="memory_mb"):
        heap_mb(1000)


def test_a_job_that_is_asked_to_end_ends_its_server_first(tmp_path, monkeypatch):
    """Without Java: the server's parser is left as after an error, and later signals end a process as before."""
    ended = []
    monkeypatch.setattr(CoreNLPParser, "__enter__", lambda parser: parser)
    monkeypatch.setattr(CoreNLPParser, "__exit__", lambda *_: ended.append(True))
    monkeypatch.setattr(corenlp, "write_parses", lambda *_, **found: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="ended by SIGTERM"):
        parse_by_corenlp("c.parquet", str(tmp_path), PCFG, {"shard": "00-of-01"}, 4000, 1, "parses.parquet")
    assert ended == [True]
    assert signal.getsignal(signal.SIGTERM) is before
