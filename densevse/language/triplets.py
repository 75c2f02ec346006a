"""Dependency triplets, the sentence fragments of DeFrag (section 3.1).

The paper's 136 to 212 relations contain words (prep_on, conj_and), as CoreNLP's enhanced dependencies do (obl:on,
conj:and). The about 50 basic relations are a variant, and so are two kinds of collapsed ones. In the Stanford
dependencies of the paper's time, a collapsed relation replaces the triplet of the preposition or conjunction that it
names; CoreNLP still makes these, which are the original ones here. Enhanced dependencies keep that triplet: `case` of
the preposition, `cc` of the conjunction. The collapsed ones here are the enhanced ones without these.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import FRAGMENTS, PARSES, RELATIONS, WORD_VECTORS
from densevse.language.parses import OK
from densevse.language.words import Vocabulary
from snakeproof import schema
from snakeproof.errors import InputError

DependenciesOfParse = Literal["enhanced", "basic", "collapsed", "original"]
"""Enhanced and basic dependencies as the parser writes them; enhanced ones without those that collapsing absorbs; or
the collapsed ones of 2014, which are the enhanced ones of parses of their own."""

SHARE = 0.01
"""A relation with a smaller share of the training triplets is dropped (section 3.1: 1%)."""

ABSORBED = frozenset({"case", "cc"})
"""Relations of prepositions and coordinating conjunctions, which the names of collapsed relations absorb."""

PUNCTUATION = "punct"
"""The relation of punctuation marks. The Stanford dependencies of the papers' time leave them out."""


class Triplet(NamedTuple):
    """A relation between two words: (amod, dog, brown)."""

    relation: str
    governor: str
    dependent: str


def triplets(tokens: list[str], dependencies: Iterable[tuple[str, int, int]]) -> list[Triplet]:
    """The typed dependencies between two words of a sentence, words in lower case."""
    words = [token.lower() for token in tokens]
    return [
        Triplet(relation, words[governor], words[dependent])
        for relation, governor, dependent in word_dependencies(dependencies)
    ]


def word_dependencies(dependencies: Iterable[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """The dependencies (relation, governor's token, dependent's token) between two words.

    The root and punctuation have none.
    """
    return [link for link in dependencies if link[1] >= 0 and link[0] != PUNCTUATION]


def dependency_column(kind: DependenciesOfParse) -> str:
    """The column of PARSES that a kind of dependencies is read from."""
    return "basic_dependencies" if kind == "basic" else "enhanced_dependencies"


def select_dependencies(
    dependencies: Iterable[dict[str, int | str]], kind: DependenciesOfParse
) -> list[tuple[str, int, int]]:
    """Dependencies of a kind as tuples, from Parquet's structures in the column of this kind."""
    every = dependency_tuples(dependencies)
    return [link for link in every if link[0] not in ABSORBED] if kind == "collapsed" else every


def triplet_table(parses: pd.DataFrame, kind: DependenciesOfParse) -> pd.DataFrame:
    """The triplets of PARSES rows (columns caption_id, tokens and those dependencies), with their caption_id."""
    rows = [
        (caption, *triplet)
        for caption, tokens, dependencies in zip(
            parses["caption_id"], parses["tokens"], parses[dependency_column(kind)], strict=True
        )
        for triplet in triplets(tokens, select_dependencies(dependencies, kind))
    ]
    return pd.DataFrame(rows, columns=["caption_id", *Triplet._fields])


def count_relations(found: pd.DataFrame, training: "pd.Series[bool]") -> pd.DataFrame:
    """Counts the relations of a triplet table: rows of RELATIONS, by descending count in training, then by name.

    `training` marks the rows of training. Raises `InputError` if these have no relation.
    """
    if not training.any():
        raise InputError("the training sentences' parses have no dependency between two words; check their status.")
    rows = pd.DataFrame(
        {"count": Counter(found.loc[training, "relation"]), "count_of_all": Counter(found["relation"])}
    ).fillna(0)
    rows = rows.astype(int).rename_axis("relation").reset_index()
    rows = rows.sort_values(["count", "relation"], ascending=[False, True], ignore_index=True)
    shares = {
        "share": rows["count"] / rows["count"].sum(),
        "share_of_all": rows["count_of_all"] / rows["count_of_all"].sum(),
    }
    return rows.assign(index=range(len(rows)), **shares)


def count_fragments(found: pd.DataFrame, splits: pd.DataFrame, relations: set[str], known: set[str]) -> pd.DataFrame:
    """Counts the triplets that each split has and keeps: rows of FRAGMENTS, the whole data set first.

    `found` is a triplet table, `splits` the caption_id and split of every sentence. A triplet is kept if its relation
    is one of `relations` and both its words are `known`.
    """
    rare = ~found["relation"].isin(relations)
    unknown = ~rare & ~(found["governor"].isin(known) & found["dependent"].isin(known))
    counted = found.assign(rare_relation=rare, unknown_word=unknown).merge(splits, on="caption_id")
    parts = {"all": (counted, splits)} | {
        split: (counted[counted["split"] == split], splits[splits["split"] == split])
        for split in splits["split"].unique()
    }
    return pd.DataFrame([_fragments(name, *part) for name, part in parts.items()])


def _fragments(name: str, found: pd.DataFrame, sentences: pd.DataFrame) -> dict[str, object]:
    shares = found["relation"].value_counts(normalize=True)
    kept = found.loc[~(found["rare_relation"] | found["unknown_word"]), "caption_id"]
    return {
        "part": name,
        "sentences": len(sentences),
        "relations": len(shares),
        "frequent_relations": (shares >= SHARE).sum(),
        "triplets": len(found),
        "rare_relation": found["rare_relation"].sum() / max(1, len(found)),
        "unknown_word": found["unknown_word"].sum() / max(1, len(found)),
        "kept": len(kept),
        "longest": kept.value_counts().max() if len(kept) else 0,
        "without": len(sentences) - kept.nunique(),
    }


def write_relations(
    captions: str,
    parses: Sequence[str],
    words: str,
    wildcards: Mapping[str, Any],
    relations: str,
    fragments: str,
    vectors: str | None = None,
) -> None:
    """The job that counts a data set's relations (RELATIONS), and the triplets lost to rare ones and unknown words.

    The latter are FRAGMENTS. The wildcard `dependencies` is the kind of dependencies that are counted. Known words are
    those with pre-trained `vectors` (WORD_VECTORS) or, without these, all of `words` (WORDS). Raises `InputError` if
    training has no relation.
    """
    kind: DependenciesOfParse = wildcards["dependencies"]
    splits = schema.read(captions, CAPTIONS, ["caption_id", "split"])
    parts = schema.read_parts(parses, PARSES, ["caption_id", "status", "tokens", dependency_column(kind)])
    found = pd.concat([triplet_table(rows[rows["status"] == OK], kind) for rows in parts], ignore_index=True)
    training = found["caption_id"].isin(splits.loc[splits["split"] == "train", "caption_id"])
    counted = count_relations(found, training)
    frequent = set(counted.loc[counted["share"] >= SHARE, "relation"])
    kept = count_fragments(found, splits, frequent, _read_known_words(words, vectors))
    schema.write(counted, RELATIONS, relations)
    schema.write(kept, FRAGMENTS, fragments)


def _read_known_words(words: str, vectors: str | None) -> set[str]:
    if vectors is None:
        return set(Vocabulary.read(words).words)
    rows = schema.read(vectors, WORD_VECTORS, ["word", "found"])
    return set(rows.loc[rows["found"], "word"])


def numbered_relations(path: str | Path) -> dict[str, int]:
    """The frequent relations of a RELATIONS artifact, numbered from 0; the others may share the next number."""
    return {relation: number for number, relation in enumerate(frequent_relations(path))}


def read_dependency_kind(path: str | Path) -> DependenciesOfParse:
    """The kind of dependencies that a RELATIONS artifact counts."""
    kind: DependenciesOfParse = schema.check(path, RELATIONS).names["dependencies"]
    return kind


def frequent_relations(path: str | Path) -> list[str]:
    """The relations of a RELATIONS artifact that make up at least `SHARE` of training's, each at its number."""
    rows = schema.read(path, RELATIONS, ["relation", "share"])
    return list(rows.loc[rows["share"] >= SHARE, "relation"])


def dependency_tuples(dependencies: Iterable[dict[str, int | str]]) -> list[tuple[str, int, int]]:
    """Dependencies as tuples, from Parquet's structures."""
    return [(str(each["relation"]), int(each["governor"]), int(each["dependent"])) for each in dependencies]
