"""The vocabularies that part-of-speech tags give: the tags of the training sentences, and the concepts of SCO.

A concept (section 3.2) is one of the most frequent nouns, adjectives, verbs and numbers of training. It is a lemma,
which unifies tense and number: "runs" and "running" are run, and "dogs" is dog. CoreNLP (4.5.10) takes some capitalised
first words for names and interjections ("Brown", "Boy"); for concepts these are what they are elsewhere.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS, PARSES, TAGS
from densevse.language.parses import OK
from densevse.language.words import Vocabulary, vocabulary_rows
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger


def count_tags(sentences: Iterable[Iterable[str]]) -> pd.DataFrame:
    """Count the tags of sentences; rows of TAGS, by falling count, numbered from 2 as words are.

    Raises `InputError` if there is no tag.
    """
    counts = Counter(tag for tags in sentences for tag in tags)
    if not counts:
        raise InputError("the training sentences' parses have no part-of-speech tags; check their status.")
    return vocabulary_rows(counts, "tag")


def write_tags(captions: str, parses: Sequence[str], output: str) -> None:
    """The job that counts the tags of training sentences, and writes them as TAGS; see `count_tags`."""
    splits = schema.read(captions, CAPTIONS, ["caption_id", "split"])
    training = set(splits.loc[splits["split"] == "train", "caption_id"])
    parts = schema.read_parts(parses, PARSES, ["caption_id", "status", "tags"])
    sentences = chain.from_iterable(part.itertuples(index=False) for part in parts)
    tags = (found for caption_id, status, found in sentences if status == OK and caption_id in training)
    schema.write(count_tags(tags), TAGS, output)


def read_tags(path: str | Path) -> Vocabulary:
    """The tags of a TAGS artifact with their numbers; 0 is padding, 1 a tag that training never had."""
    return Vocabulary(schema.read(path, TAGS, ["tag"])["tag"])


KINDS = {"NN": "noun", "JJ": "adjective", "VB": "verb", "CD": "number"}
"""Kinds by the first two letters of a Penn Treebank tag: NN, NNS, NNP and NNPS are nouns."""


MISREAD = ("NNP", "UH")
"""Tags of first words that take the most frequent tag of their lower-case form."""


def usual_readings(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The most frequent tag, and its lemma, of each word that is written in lower case, by that word.

    The columns of `parts` are those of `content_words`. Of equally frequent tags it is the alphabetically first one.
    """
    names = ["form", "tags", "lemmas"]
    words = [rows[rows["tokens"] == rows["form"]].value_counts(names, sort=False) for rows in map(_words, parts)]
    counted = pd.concat(words).groupby(names).sum().reset_index(name="count")
    return (
        counted.sort_values(["count", *names], ascending=[False, *[True] * 3]).drop_duplicates("form").set_index("form")
    )


def content_words(parses: pd.DataFrame, usual: pd.DataFrame) -> pd.DataFrame:
    """The nouns, adjectives, verbs and numbers of PARSES rows, counted by image_id, concept, kind and form.

    `parses` has the columns image_id, status, tokens, lemmas and tags; a sentence that was not parsed has none. `usual`
    are the readings (`usual_readings`) that first words with a tag of `MISREAD` take.
    """
    words = _words(parses)
    misread = ~words.index.duplicated() & words["tags"].isin(MISREAD) & words["form"].isin(usual.index)
    columns = ["tags", "lemmas"]
    words.loc[misread, columns] = usual.loc[words.loc[misread, "form"], columns].to_numpy()
    words["kind"], words["concept"] = words["tags"].str[:2].map(KINDS), words["lemmas"].str.lower()
    kept = words[words["kind"].notna() & words["concept"].str.contains(r"\w")]
    counted: pd.DataFrame = kept.value_counts(["image_id", "concept", "kind", "form"], sort=False).reset_index()
    return counted


def _words(parses: pd.DataFrame) -> pd.DataFrame:
    """A row for each word, with the number of its sentence as index, and its lower-case form."""
    names = ["tokens", "lemmas", "tags"]
    sentences = parses.loc[parses["status"] == OK, ["image_id", *names]].reset_index(drop=True)
    words = sentences.explode(names).dropna()
    return words.assign(form=words["tokens"].str.lower())


def frequent_concepts(words: pd.DataFrame, most: int) -> pd.DataFrame:
    """The `most` frequent concepts of training's content words, as rows of CONCEPTS, by descending count.

    Equal counts are in alphabetical order. A concept's kind is its most frequent one.
    Raises `InputError` if there is no concept.
    """
    if words.empty:
        raise InputError(
            "the training sentences' parses have no noun, adjective, verb or number, so there is no concept; check "
            "their status and the split of the captions."
        )
    of_concept = words.groupby("concept")
    rows = pd.DataFrame({"count": of_concept["count"].sum(), "image_count": of_concept["image_id"].nunique()})
    rows["kind"] = _count_values(words, "kind").groupby("concept")["kind"].first()
    rows["forms"] = _count_values(words, "form").groupby("concept")["form"].agg(list)
    rows = rows.reset_index().sort_values(["count", "concept"], ascending=[False, True], ignore_index=True).head(most)
    if len(rows) < most:
        logger.warning("the training sentences have %d concepts, fewer than the %d asked for", len(rows), most)
    return rows.assign(index=range(len(rows)))


def concepts_of_images(words: pd.DataFrame, concepts: pd.DataFrame, images: Iterable[str]) -> pd.DataFrame:
    """The concepts that the sentences of each image name, as rows of IMAGE_CONCEPTS, in the order of `images`."""
    number = words["concept"].map(pd.Series(concepts["index"].to_numpy(), index=concepts["concept"]))
    known = words.assign(number=number).dropna(subset="number")
    found = known.astype({"number": int}).groupby("image_id")["number"].agg(lambda numbers: sorted(set(numbers)))
    rows = pd.DataFrame({"image_id": list(images)})
    rows["concepts"] = [found.get(image, []) for image in rows["image_id"]]
    logger.info("%d of %d images have no concept", (rows["concepts"].str.len() == 0).sum(), len(rows))
    return rows


def write_concepts(images: str, parses: Sequence[str], most: int, concepts: str, image_concepts: str) -> None:
    """The job that mines the `most` frequent concepts of training (CONCEPTS), and those of each image (IMAGE_CONCEPTS).

    Images are the readable ones of all splits. Raises `InputError` if the vocabulary would be empty.
    """
    rows = schema.read(images, IMAGES, ["image_id", "split", "status"])
    rows = rows[rows["status"] == OK]
    columns = ["image_id", "status", "tokens", "lemmas", "tags"]
    training = rows.loc[rows["split"] == "train", "image_id"]
    usual = usual_readings(part[part["image_id"].isin(training)] for part in schema.read_parts(parses, PARSES, columns))
    read = [content_words(part, usual) for part in schema.read_parts(parses, PARSES, columns)]
    words = pd.concat(read, ignore_index=True)
    frequent = frequent_concepts(words[words["image_id"].isin(training)], most)
    schema.write(frequent, CONCEPTS, concepts)
    schema.write(concepts_of_images(words, frequent, rows["image_id"]), IMAGE_CONCEPTS, image_concepts)


def _count_values(words: pd.DataFrame, column: str) -> pd.DataFrame:
    """The distinct values of a column for each concept, the most frequent first, equal counts alphabetically."""
    counts: pd.DataFrame = words.groupby(["concept", column])["count"].sum().reset_index()
    return counts.sort_values(["count", column], ascending=[False, True])
