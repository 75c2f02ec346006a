"""Dependency triplets, the sentence fragments of DeFrag (section 3.1)."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.vocabulary import RELATIONS
from densevse.errors import InputError
from densevse.language.parses import OK
from densevse.language.words import Vocabulary


class Triplet(NamedTuple):
    """A relation between two words: (amod, dog, brown)."""

    relation: str
    governor: str
    dependent: str


def triplets(tokens: list[str], dependencies: Iterable[tuple[str, int, int]]) -> list[Triplet]:
    """The typed dependencies between two words of a sentence, words in lower case; its root has none."""
    words = [token.lower() for token in tokens]
    return [
        Triplet(relation, words[governor], words[dependent])
        for relation, governor, dependent in dependencies
        if governor >= 0
    ]


def known_triplets(found: Iterable[Triplet], relations: set[str], vocabulary: Vocabulary) -> list[Triplet]:
    """Those whose relation is one of `relations` and whose words are both known."""
    return [
        triplet
        for triplet in found
        if triplet.relation in relations and triplet.governor in vocabulary and triplet.dependent in vocabulary
    ]


def count_relations(parses: pd.DataFrame) -> pd.DataFrame:
    """Count the relations of PARSES rows; rows of RELATIONS, by falling count, equal counts in alphabetical order.

    `parses` has the columns tokens and basic_dependencies. Raises `InputError` if there is no relation.
    """
    counts = Counter(
        triplet.relation
        for tokens, dependencies in zip(parses["tokens"], parses["basic_dependencies"], strict=True)
        for triplet in triplets(tokens, _tuples(dependencies))
    )
    if not counts:
        raise InputError("the training sentences' parses have no dependency between two words; look at their status.")
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = pd.DataFrame(ordered, columns=["relation", "count"])
    return rows.assign(index=range(len(rows)), share=rows["count"] / rows["count"].sum())


def write_relations(captions_path: str, parse_paths: list[str], path: str) -> None:
    """Count the relations of a data set's training sentences and write them to `path` as a RELATIONS artifact."""
    captions = schema.read(captions_path, CAPTIONS, ["caption_id", "split"])
    columns = ["caption_id", "status", "tokens", "basic_dependencies"]
    parses = schema.read_all(parse_paths, PARSES, columns)
    training = parses["caption_id"].isin(captions.loc[captions["split"] == "train", "caption_id"])
    made_from = {"captions": captions_path, "parses": parse_paths, "split": "train"}
    schema.write(count_relations(parses[training & (parses["status"] == OK)]), RELATIONS, path, made_from)


def frequent_relations(path: str | Path, share: float = 0.01) -> set[str]:
    """The relations of a RELATIONS artifact that make up at least `share` of all (DeFrag: 1 %)."""
    rows = schema.read(path, RELATIONS, ["relation", "share"])
    return set(rows.loc[rows["share"] >= share, "relation"])


def _tuples(dependencies: Iterable[dict[str, int | str]]) -> list[tuple[str, int, int]]:
    """Dependencies as Parquet gives them, as tuples."""
    return [(str(each["relation"]), int(each["governor"]), int(each["dependent"])) for each in dependencies]
