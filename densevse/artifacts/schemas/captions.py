"""Generated sentences about images, their scores, and tables of these."""

import pyarrow as pa

from densevse.artifacts.columns import IMAGE_ID
from snakeproof.schema import NUMBER, REAL, TEXT, TEXTS, Column, Schema

ALL, OTHER_REFERENCES = "all", "others"  # the references: all sentences of an image, or its others than the first
ORDERS = (1, 2, 3, 4)  # of the n-grams that BLEU compares

GENERATED = Schema(
    "generated captions",
    "a sentence that was written about an image",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "its place among the image's sentences, from 1"),
        Column("sentence", TEXT, "the sentence"),
        Column("tokens", TEXTS, "its words and punctuation marks, as in tokens.parquet"),
        Column("score", REAL, "what it is ranked by"),
        Column("log_likelihood", REAL, "natural logarithm of its probability by the generator", nullable=True),
        Column("translation", REAL, "s(x, v): its likeness to the image in the joint space", nullable=True),
        Column("language", REAL, "log probability of a word by the n-gram model, mean", nullable=True),
        Column("tags", TEXTS, "the part-of-speech tags that it was written along; empty without"),
        Column("in_training", pa.bool_(), "whether a training sentence has the same words, punctuation aside"),
    ),
)

CAPTION_SCORES = Schema(
    "caption scores",
    "the first sentence about an image, held to the sentences that people wrote about it",
    (
        IMAGE_ID,
        Column("family", TEXT, "the image's family: images of one are drawn together for intervals"),
        Column("references", TEXT, "all of the image's sentences, or its others than the first"),
        Column("words", TEXTS, "the sentence as it is compared: lower case, without punctuation"),
        Column("in_training", pa.bool_(), "whether a training sentence has the same words"),
        *(Column(f"correct_{n}", NUMBER, f"its {n}-grams that a reference has, each as often at most") for n in ORDERS),
        *(Column(f"guessed_{n}", NUMBER, f"how many {n}-grams it has") for n in ORDERS),
        Column("reference_length", NUMBER, "words of the reference whose length is nearest"),
        Column("rouge_l", REAL, "ROUGE-L, 0 to 1"),
        Column("cider", REAL, "CIDEr, 0 to 10"),
        Column("meteor", REAL, "METEOR, 0 to 1; none without Java", nullable=True),
        Column("meteor_of_all", REAL, "METEOR of all sentences together, in each row", nullable=True),
        Column("spice", REAL, "SPICE's F, 0 to 1; none without Java", nullable=True),
    ),
)

CAPTION_METRICS = tuple(
    Column(name, REAL, meaning, nullable=True)
    for name, meaning in (
        *((f"bleu_{n}", f"BLEU-{n}, percent") for n in ORDERS),
        *((f"bleu_{n}_without_penalty", f"BLEU-{n} without the brevity penalty, percent") for n in ORDERS),
        ("rouge_l", "ROUGE-L, percent"),
        ("cider", "CIDEr, percent"),
        ("meteor", "METEOR, percent"),
        ("spice", "SPICE, percent"),
        ("new", "sentences that are not in training word for word, percent"),
        ("length", "words of a sentence, mean"),
    )
)

CAPTION_TABLE = Schema(
    "caption table",
    "a row of a table of generated sentences",
    (
        Column("references", TEXT, "all of the images' sentences, or their others than the first"),
        Column("method", TEXT, "what wrote the sentences"),
        Column("source", TEXT, "paper of a published row; generator and seeds of a measured one"),
        Column("generator", TEXT, "its name in config/generators, copied or person; empty for a published row"),
        *CAPTION_METRICS,
        *(
            Column(f"{each.name}_{end}", REAL, f"{end} end of its 95% interval", nullable=True)
            for each in CAPTION_METRICS
            for end in ("low", "high")
        ),
        Column("gain", REAL, "CIDEr less that of the row that it is compared with, percent", nullable=True),
        Column("gain_low", REAL, "low end of the paired 95% interval of gain", nullable=True),
        Column("gain_high", REAL, "high end of it", nullable=True),
        Column("vocabulary", REAL, "different words in all sentences, mean over seeds", nullable=True),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
        Column("note", TEXT, "what is known of a published row's protocol"),
    ),
)
