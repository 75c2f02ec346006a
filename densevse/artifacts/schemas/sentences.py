"""Schemas of sentences: tokens, parses, and the vocabularies of training sentences."""

import pyarrow as pa

from densevse.artifacts.columns import CAPTION_ID, IMAGE_ID, SPLIT
from snakeproof.schema import NUMBER, REAL, REALS, TEXT, TEXTS, Column, Schema

TOKENS = Schema(
    "tokens",
    "a sentence of an image, cut into words",
    (
        CAPTION_ID,
        IMAGE_ID,
        SPLIT,
        Column("tokens", TEXTS, "its words and punctuation marks in lower case: see densevse.language.words"),
    ),
)


DEPENDENCIES = pa.list_(
    pa.struct(
        [
            pa.field("relation", TEXT, nullable=False),
            pa.field("governor", NUMBER, nullable=False),
            pa.field("dependent", NUMBER, nullable=False),
        ]
    )
)

DEPENDENCY_MEANING = "relation, governor and dependent token index from 0; the root's governor is -1"

PARSES = Schema(
    "parses",
    "a sentence as the parser read it",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("text", TEXT, "the caption's text"),
        Column("status", TEXT, "ok, or why the sentence could not be parsed (the other columns are then empty)"),
        Column("tokens", TEXTS, "tokens as written"),
        Column("lemmas", TEXTS, "the lemma of each token"),
        Column("tags", TEXTS, "a Penn Treebank part-of-speech tag a token"),
        Column("tree", TEXT, "constituency tree in Penn bracket notation, brackets in words as -LRB- and -RRB-"),
        Column("basic_dependencies", DEPENDENCIES, DEPENDENCY_MEANING),
        Column("enhanced_dependencies", DEPENDENCIES, DEPENDENCY_MEANING),
    ),
)


WORDS = Schema(
    "words",
    "a word of the training sentences",
    (
        Column("index", NUMBER, "the word's number; 0 is padding, 1 the unknown word"),
        Column("word", TEXT, "the word, lower case"),
        Column("count", NUMBER, "occurrences in the training sentences"),
    ),
)

TAGS = Schema(
    "tags",
    "a part-of-speech tag of the training sentences",
    (
        Column("index", NUMBER, "the tag's number; 0 is padding, 1 a tag that training never had"),
        Column("tag", TEXT, "the Penn Treebank tag"),
        Column("count", NUMBER, "occurrences in the training sentences"),
    ),
)

RELATIONS = Schema(
    "relations",
    "a typed dependency",
    (
        Column("index", NUMBER, "the relation's number, by descending count"),
        Column("relation", TEXT, "its name"),
        Column("count", NUMBER, "occurrences in the training sentences"),
        Column("share", REAL, "share of all their occurrences"),
        Column("count_of_all", NUMBER, "occurrences in the sentences of every split"),
        Column("share_of_all", REAL, "share of all their occurrences"),
    ),
    version=2,
)

FRAGMENTS = Schema(
    "fragments",
    "a part of the data set, with the dependency triplets of its sentences",
    (
        Column("part", TEXT, "all, or a split"),
        Column("sentences", NUMBER, "how many sentences"),
        Column("relations", NUMBER, "how many different relations they have"),
        Column("frequent_relations", NUMBER, "how many of these make up at least 1% of the part's triplets"),
        Column("triplets", NUMBER, "how many triplets"),
        Column("rare_relation", REAL, "share of them that is dropped as training has less than 1% of the relation"),
        Column("unknown_word", REAL, "share of them that is dropped for an unknown word, the relation being frequent"),
        Column("kept", NUMBER, "how many are kept"),
        Column("longest", NUMBER, "the most that a sentence keeps"),
        Column("without", NUMBER, "how many sentences keep none"),
    ),
)

CONCEPTS = Schema(
    "concepts",
    "a concept: a frequent noun, adjective, verb or number of the training sentences",
    (
        Column("index", NUMBER, "the concept's number, from 0, by descending count"),
        Column("concept", TEXT, "its lemma, lower case"),
        Column("kind", TEXT, "noun, adjective, verb or number: what it is most often"),
        Column("count", NUMBER, "occurrences in the training sentences"),
        Column("image_count", NUMBER, "how many training images have a sentence with it"),
        Column("forms", TEXTS, "its forms in the training sentences, lower case, by descending count"),
    ),
)

IMAGE_CONCEPTS = Schema(
    "image_concepts",
    "an image with the concepts that its sentences name",
    (
        IMAGE_ID,
        Column("concepts", pa.list_(NUMBER), "the numbers of the concepts, ascending; none for an image without"),
    ),
)

WORD_VECTORS = Schema(
    "word_vectors",
    "a word's pre-trained vector",
    (
        Column("index", NUMBER, "the word's number in words.parquet"),
        Column("word", TEXT, "the word"),
        Column("found", pa.bool_(), "whether the vectors' file has the word; its vector is zero where not"),
        Column("vector", REALS, "the vector"),
    ),
)
