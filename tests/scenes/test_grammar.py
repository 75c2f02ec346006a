import itertools

import nltk.parse.chart
import numpy as np
import pytest

from densevse.language.trees import phrases, read_tree
from densevse.scenes.grammar import TOKENIZER, GrammarParser, _Chart
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family


@pytest.fixture(scope="module")
def parser():
    return GrammarParser()


@pytest.fixture(scope="module")
def sentences():
    random = np.random.default_rng(1)
    families = [sample_family(random) for _ in range(120)]
    return [sentence for family in families for scene in family for sentence in describe(scene, random)]


@pytest.fixture(scope="module")
def parses(parser, sentences):
    return parser.parse([sentence.text for sentence in sentences])


def arcs(parse, dependencies):
    words = {-1: "ROOT", **dict(enumerate(parse.tokens))}
    return {(one.relation, words[one.governor], words[one.dependent]) for one in dependencies}


def test_every_sentence_of_scenes_is_parsed_with_its_own_tokens(sentences, parses):
    assert len(sentences) > 500
    assert {parse.status for parse in parses} == {"ok"}
    assert [tuple(parse.tokens) for parse in parses] == [sentence.tokens for sentence in sentences]


def test_a_machine_that_stands_still_for_minutes_parses_all_the_same(monkeypatch):
    clock = itertools.count(step=60)
    monkeypatch.setattr(nltk.parse.chart.time, "perf_counter", lambda: next(clock))
    (parse,) = GrammarParser().parse(["A red ball"])
    assert (parse.status, parse.tokens) == ("ok", ["A", "red", "ball"])


def test_every_sentence_can_be_read_in_one_way_only(parser, sentences):
    kinds = {tuple(token.lower() for token in s.tokens if token not in ".,"): s.text for s in sentences[::4]}
    for text in kinds.values():
        words = [parser._words[token.lower()].kind for token in TOKENIZER.tokenize(text)]
        assert len(_Chart(parser._ways, words).trees()) == 1


def test_the_noun_phrases_are_those_that_the_sentence_was_made_of(sentences, parses):
    """Beside these the trees have two noun phrases that name nothing: "there", and "the left" with what follows."""
    for sentence, parse in zip(sentences, parses, strict=True):
        tree = read_tree(parse.tree)
        found = {(int(tree.start[node]), int(tree.end[node])) for node in phrases(tree)}
        made = {(start, end) for start, end, _ in sentence.phrases}
        words = [token.lower() for token in sentence.tokens]
        nothing = {
            (a, b) for a, b in found if words[a] == "there" or words[a : a + 2] in (["the", "left"], ["the", "right"])
        }
        assert found - nothing == made
        assert len(made) == len(sentence.phrases)


def test_dependencies_are_a_tree_with_one_root(parses):
    for parse in parses:
        assert sorted(one.dependent for one in parse.basic_dependencies) == list(range(len(parse.tokens)))
        assert [one.relation for one in parse.basic_dependencies if one.governor == -1] == ["root"]
        assert len(parse.lemmas) == len(parse.tags) == len(parse.tokens)


def test_a_relative_clause(parser):
    (parse,) = parser.parse(["A ball that pushes a box is red."])
    assert parse.tree == (
        "(ROOT (S (NP (NP (DT A) (NN ball)) (SBAR (WHNP (WDT that)) (S (VP (VBZ pushes) (NP (DT a) (NN box)))))) "
        "(VP (VBZ is) (ADJP (JJ red))) (. .)))"
    )
    assert parse.lemmas == ["a", "ball", "that", "push", "a", "box", "be", "red", "."]
    basic = arcs(parse, parse.basic_dependencies)
    assert {("acl:relcl", "ball", "pushes"), ("nsubj", "pushes", "that"), ("obj", "pushes", "box")} <= basic
    assert {("root", "ROOT", "red"), ("cop", "red", "is"), ("nsubj", "red", "ball"), ("det", "box", "a")} <= basic
    enhanced = arcs(parse, parse.enhanced_dependencies)
    assert {("ref", "ball", "that"), ("nsubj", "pushes", "ball")} <= enhanced
    assert ("nsubj", "pushes", "that") not in enhanced


def test_passive_and_coordination(parser):
    passive, joined = parser.parse(["Two rings and a star float", "The box is carried by one cone"])[::-1]
    assert {("nsubj:pass", "carried", "box"), ("aux:pass", "carried", "is")} <= arcs(
        passive, passive.basic_dependencies
    )
    assert ("obl:agent", "carried", "cone") in arcs(passive, passive.enhanced_dependencies)
    assert {("cc", "star", "and"), ("conj", "rings", "star")} <= arcs(joined, joined.basic_dependencies)
    enhanced = arcs(joined, joined.enhanced_dependencies)
    assert {("conj:and", "rings", "star"), ("nsubj", "float", "star"), ("nsubj", "float", "rings")} <= enhanced


def test_a_modifier_belongs_to_the_nearest_noun(parser):
    (parse,) = parser.parse(["a ball left of a box above a star"])
    assert arcs(parse, parse.enhanced_dependencies) >= {
        ("advmod", "ball", "left"),
        ("obl:of", "left", "box"),
        ("nmod:above", "box", "star"),
    }


def test_what_the_grammar_does_not_cover_is_recorded_with_the_reason(parser):
    texts = ["A dog (brown) runs.", "ball a the", "", "A red ball", "%"]
    dog, scrambled, empty, ball, percent = parser.parse(texts)
    assert "dog" in dog.status
    assert scrambled.status == "not a sentence of the grammar"
    assert empty.status == "no words"
    assert ball.status == "ok"
    assert percent.status != "ok"
    assert dog.tokens == scrambled.tokens == []


def test_parses_are_in_the_order_of_the_texts(parser):
    first, second, third = parser.parse(["A red ball", "A blue box", "A red ball"])
    assert first == third
    assert first.tokens != second.tokens
