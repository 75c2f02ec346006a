"""Triplets and dependency trees as batches."""

import numpy as np
import pytest

from densevse.artifacts.schemas.sentences import PARSES, RELATIONS
from densevse.data.inputs import Inputs
from densevse.data.structures.dependencies import _nodes
from densevse.language.triplets import dependency_column, numbered_relations, write_relations
from densevse.language.words import drop_punctuation
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making


def relations(folder, kind):
    paths = str(folder / "relations.parquet"), str(folder / "fragments.parquet")
    names = ("captions", "parses", "words")
    captions, parses, words = (str(folder / f"{name}.parquet") for name in names)
    wildcards = {"dependencies": kind}
    with making(Statement(wildcards=wildcards)):
        write_relations(captions, [parses], words, wildcards, *paths)
    return paths[0]


def opened(files, folder, structure, kind):
    changed = files.replace_inputs(parses=[str(folder / "parses.parquet")], relations=relations(folder, kind))
    return Inputs(changed, [structure])


@pytest.mark.parametrize("kind", ["enhanced", "basic", "original"])
def test_triplets_are_those_of_the_parses(files, folder, kind):
    inputs = opened(files, folder, "triplets", kind)
    pairs = inputs.pairs("train")
    names = list(schema.read(folder / "relations.parquet", RELATIONS)["relation"])
    assert sorted(names) == ["det", "obl" if kind == "basic" else "obl:on"]
    assert inputs.shapes().sizes == {"relations": 2}
    parses = schema.read(folder / "parses.parquet", PARSES).set_index("caption_id")
    chosen = np.array([3, 0, 7])
    found, place = pairs.sentences(chosen)["triplets"], 0
    for count, caption_id in zip(found.lengths.tolist(), pairs.rows.caption_ids[chosen], strict=True):
        row = parses.loc[caption_id]
        expected = [link for link in row[dependency_column(kind)] if link["relation"] not in ("root", "punct")]
        assert count == len(expected)
        for link in expected:
            words = inputs.vocabulary.encode([row["tokens"][link["governor"]], row["tokens"][link["dependent"]]])
            assert [found.governor[place].item(), found.dependent[place].item()] == words
            assert names[found.relation[place]] == link["relation"]
            place += 1
    assert place == len(found.relation)


def test_collapsed_triplets_are_the_enhanced_ones_without_prepositions(files, folder):
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["enhanced_dependencies"] = [
        [{**link, "relation": "case"} if link["relation"] == "det" else link for link in links]
        for links in parses["enhanced_dependencies"]
    ]
    schema.write(parses, PARSES, folder / "parses.parquet")
    chosen = np.array([3, 0, 7])
    every, collapsed = (
        opened(files, folder, "triplets", kind).pairs("train").sentences(chosen)["triplets"]
        for kind in ("enhanced", "collapsed")
    )
    names = list(schema.read(folder / "relations.parquet", RELATIONS)["relation"])
    assert names == ["obl:on"]
    assert 0 < len(collapsed.relation) < len(every.relation)


def test_a_sentence_that_could_not_be_parsed_has_no_triplets_and_only_roots(files, folder):
    first = np.array([0, 1])
    triplets = opened(files, folder, "triplets", "enhanced").pairs("train").sentences(first)["triplets"]
    assert triplets.lengths[0] == 0
    assert triplets.lengths[1] > 0
    inputs = opened(files, folder, "dependencies", "basic")
    pairs = inputs.pairs("train")
    trees = pairs.sentences(first)["dependencies"]
    words = drop_punctuation(inputs.sentence_tokens(pairs.rows.caption_ids[first])[0])
    assert trees.lengths[0] == len(words)
    assert (trees.head[: len(words)] == -1).all()
    assert trees.head[len(words) :].max() == len(trees.word) - 1
    assert trees.word[: len(words)].tolist() == inputs.vocabulary.encode(words)


def test_dependency_trees_hold_every_word_and_no_punctuation(files, folder):
    inputs = opened(files, folder, "dependencies", "basic")
    pairs = inputs.pairs("train")
    assert inputs.shapes().sizes == {"relations": 3}  # det, obl, all others
    chosen = np.array([2, 1])
    trees = pairs.sentences(chosen)["dependencies"]
    tokens = inputs.sentence_tokens(pairs.rows.caption_ids[chosen])
    assert trees.lengths.tolist() == [len(words) - 1 for words in tokens]
    assert trees.word.tolist() == [word for words in tokens for word in inputs.vocabulary.encode(words[:-1])]
    first = trees.lengths[0]
    for begin, end in ((0, first), (first, len(trees.word))):
        verb = end - 1
        assert np.flatnonzero(trees.head[begin:end] < 0).tolist() == [verb - begin]
        assert (trees.head[begin:verb] == verb).all()
    parses = schema.read(folder / "parses.parquet", PARSES).set_index("caption_id")
    known = numbered_relations(folder / "relations.parquet")
    relations = [
        {link["dependent"]: known.get(link["relation"], len(known)) for link in parses.loc[one, "basic_dependencies"]}
        for one in pairs.rows.caption_ids[chosen]
    ]
    assert trees.relation.tolist() == [
        of[place] for of, words in zip(relations, tokens, strict=True) for place in range(len(words) - 1)
    ]


def links(*rows):
    return [dict(zip(("relation", "governor", "dependent"), row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("dependencies", "expected"),
    [  # of four tokens whose words have the numbers 5, 6, 7, 8
        pytest.param(
            links(("ROOT", -1, 3), ("det", 2, 0), ("punct", 3, 1), ("obl", 3, 2)),
            [(5, 1, 0), (7, 2, 1), (8, -1, 2)],
            id="a mark between words",
        ),
        pytest.param(
            links(("ROOT", -1, 0), ("punct", 0, 1), ("det", 1, 2), ("obl", 2, 3)),
            [(5, -1, 2), (7, -1, 0), (8, 1, 1)],
            id="a word that hangs on a mark is a root",
        ),
        pytest.param(links(*[("punct", -1, place) for place in range(4)]), [], id="nothing but marks"),
    ],
)
def test_words_are_counted_without_punctuation(dependencies, expected):
    nodes = _nodes([5, 6, 7, 8], dependencies, {"det": 0, "obl": 1})
    assert [tuple(node) for node in nodes] == expected
    assert nodes.shape == (len(expected), 3)


def test_relations_that_training_never_saw_are_dropped_from_triplets_and_shared_in_trees(files, folder):
    inputs = opened(files, folder, "triplets", "enhanced")
    parses = schema.read(folder / "parses.parquet", PARSES)
    for column in ("basic_dependencies", "enhanced_dependencies"):
        parses[column] = [
            [{**link, "relation": f"new {link['relation']}"} if caption.startswith("test") else link for link in links]
            for caption, links in zip(parses["caption_id"], parses[column], strict=True)
        ]
    schema.write(parses, PARSES, folder / "parses.parquet")
    every = np.arange(len(inputs.pairs("test").rows.caption_ids))
    assert inputs.pairs("test").sentences(every)["triplets"].lengths.sum() == 0
    trees = opened(files, folder, "dependencies", "basic").pairs("test").sentences(every)["dependencies"]
    assert (trees.relation[trees.head >= 0] == 2).all()


def test_triplets_with_unknown_words_are_dropped(files, folder):
    inputs = opened(files, folder, "triplets", "enhanced")
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tokens"] = [[f"{token}x" for token in tokens] for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet")
    assert inputs.pairs("val").sentences(np.array([0]))["triplets"].lengths.tolist() == [0]


def test_without_relations_the_job_says_so(files, folder):
    with pytest.raises(InputError, match="relations"):
        Inputs(files.replace_inputs(parses=[str(folder / "parses.parquet")]), ["triplets"]).pairs("train")


def test_regions_come_with_their_scores(files, folder):
    inputs = Inputs(files.replace_inputs(view_regions=[str(folder / "regions.parquet")]), ["words"])
    images = inputs.pairs("train").images(np.arange(4))
    assert np.isinf(images.scores[:, 0]).all()
    assert (images.scores[:, 1:][images.present[:, 1:]] == 1).all()
    assert (images.scores[~images.present] == 0).all()
