"""The schema of every artifact, in pipeline order. Boxes are in pixels of the upright image, origin top left."""

import pyarrow as pa

from densevse.artifacts.schema import Column, Schema

TEXT, NUMBER, REAL = pa.string(), pa.int32(), pa.float32()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)

IMAGE_ID = Column("image_id", TEXT, "the image, unique in its data set")
CAPTION_ID = Column("caption_id", TEXT, "the caption: <image_id>#<position>")
SPLIT = Column("split", TEXT, "train, val, test, restval (MS-COCO's rest of val) or unused")
BOX = (
    Column("x", REAL, "left edge of the box, pixels"),
    Column("y", REAL, "top edge of the box, pixels"),
    Column("width", REAL, "width of the box, pixels"),
    Column("height", REAL, "height of the box, pixels"),
)

IMAGES = Schema(
    "images",
    "an image",
    (
        IMAGE_ID,
        Column("source", TEXT, "the data set's source (a key of its config) that holds the file"),
        Column("file", TEXT, "the file's path inside that source"),
        SPLIT,
        Column("width", NUMBER, "width of the upright image, pixels; 0 where it cannot be read"),
        Column("height", NUMBER, "height of the upright image, pixels; 0 where it cannot be read"),
        Column("sha256", TEXT, "checksum of the file's bytes; empty where it is missing"),
        Column("captions", NUMBER, "how many captions it has"),
        Column("family", TEXT, "images that are variations of each other share it; the image_id where there are none"),
        Column("status", TEXT, "ok, or why the image cannot be read (only images that the config knows of)"),
    ),
    version=2,
)

CAPTIONS = Schema(
    "captions",
    "a sentence of an image",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("position", NUMBER, "which sentence of its image, from 0"),
        Column("text", TEXT, "the sentence as published, white space trimmed"),
        SPLIT,
    ),
)

BOXES = Schema(
    "boxes",
    "a true box: an object's, or what a phrase of a caption names",
    (
        IMAGE_ID,
        Column("caption_id", TEXT, "the caption whose phrase names it; empty for a box without caption"),
        Column("phrase", TEXT, "the phrase (its words, space separated), or the object's class name"),
        Column("start", NUMBER, "index of the phrase's first token in its caption; -1 without caption"),
        Column("end", NUMBER, "index after the phrase's last token; -1 without caption"),
        *BOX,
    ),
)

PROPOSALS = Schema(
    "proposals",
    "a box that may hold an object",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "position in the proposer's order, from 0"),
        *BOX,
        Column("score", REAL, "the proposer's score, higher is better (no unit; falls with rank)"),
    ),
)

PROPOSAL_RECALL = Schema(
    "proposal_recall",
    "a number of boxes an image",
    (
        Column("boxes", NUMBER, "how many boxes an image are looked at, in rank order; 0 means all of them"),
        Column("boxes_mean", REAL, "how many boxes an image there were, mean"),
        Column("average_best_overlap", REAL, "mean over true boxes of the best intersection over union"),
        Column("recall", REAL, "share of true boxes with an intersection over union of at least 0.5"),
        Column("true_boxes", NUMBER, "how many true boxes"),
    ),
)

# A feature file has these columns and one more, `vector`: see densevse.artifacts.store.
IMAGE_FEATURES = Schema("image_features", "an image's vector or grid", (IMAGE_ID,))
REGION_FEATURES = Schema(
    "region_features",
    "a region of an image: its box and vector; rank 0 is the whole image",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "0 for the whole image, then detections by falling score"),
        *BOX,
        Column("score", REAL, "the detection's class score"),
        Column("class_name", TEXT, "the detection's class; empty for the whole image"),
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
        Column("lemmas", TEXTS, "a lemma a token"),
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

RELATIONS = Schema(
    "relations",
    "a typed dependency of the training sentences",
    (
        Column("index", NUMBER, "the relation's number"),
        Column("relation", TEXT, "its name"),
        Column("count", NUMBER, "occurrences in the training sentences"),
        Column("share", REAL, "share of all occurrences"),
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

CORRESPONDENCES = Schema(
    "correspondences",
    "a noun phrase of a caption with the region it is assigned to",
    (
        CAPTION_ID,
        IMAGE_ID,
        Column("phrase", TEXT, "the phrase's words"),
        Column("start", NUMBER, "index of its first token in the caption"),
        Column("end", NUMBER, "index after its last token"),
        Column("region", NUMBER, "rank of the region in the region features"),
        *BOX,
        Column("confidence", REAL, "similarity of phrase and region, s_ij of section 3.3"),
    ),
)

CORRESPONDENCE_ACCURACY = Schema(
    "correspondence_accuracy",
    "a way to choose a region for a phrase",
    (
        Column("choice", TEXT, "learned, whole image, chance, or best possible"),
        Column("accuracy", REAL, "share of phrases whose box overlaps a true one by at least 0.5"),
        Column("overlap", REAL, "mean best intersection over union with a true box of the phrase"),
        Column("phrases", NUMBER, "how many phrases have a true box"),
    ),
)

HISTORY = Schema(
    "history",
    "an epoch of a training",
    (
        Column("epoch", NUMBER, "the epoch, from 1"),
        Column("step", NUMBER, "optimiser steps taken by its end"),
        Column("learning_rate", REAL, "learning rate at its end"),
        Column("loss", REAL, "mean training loss over its batches"),
        Column("annotation_r1", REAL, "R@1 of image annotation on val, percent"),
        Column("annotation_r5", REAL, "R@5 of image annotation on val, percent"),
        Column("annotation_r10", REAL, "R@10 of image annotation on val, percent"),
        Column("search_r1", REAL, "R@1 of image search on val, percent"),
        Column("search_r5", REAL, "R@5 of image search on val, percent"),
        Column("search_r10", REAL, "R@10 of image search on val, percent"),
        Column("sum", REAL, "sum of the six recalls"),
        Column("best", pa.bool_(), "whether it is the epoch whose weights were kept"),
        Column("resumed", NUMBER, "how often training was interrupted and resumed by its end"),
        Column("seconds", REAL, "wall-clock time of the epoch, seconds"),
    ),
)

RETRIEVAL = Schema(
    "retrieval",
    "a query",
    (
        Column("fold", NUMBER, "which fold of the protocol, from 0"),
        Column("direction", TEXT, "annotation (an image asks for sentences) or search (a sentence for images)"),
        Column("query_id", TEXT, "the image_id or caption_id that asks"),
        Column("rank", NUMBER, "rank of its first true answer, from 1; ties count against it"),
        Column("candidates", NUMBER, "how many candidates were ranked"),
        Column("top", TEXTS, "the ten best candidates' ids, best first"),
        Column("top_scores", REALS, "their scores"),
        Column("top_true", pa.list_(pa.bool_()), "whether each is a true answer"),
    ),
)

FIGURES = tuple(
    Column(f"{direction}_{figure}", REAL, meaning, nullable=True)
    for direction in ("annotation", "search")
    for figure, meaning in (
        ("r1", "R@1, percent"),
        ("r5", "R@5, percent"),
        ("r10", "R@10, percent"),
        ("median_rank", "Med r"),
        ("mean_rank", "Mean r"),
    )
)

RESULTS = Schema(
    "results",
    "a row of a table",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("kind", TEXT, "random, published or measured"),
        Column("source", TEXT, "paper and table of a published row; variant and seeds of a measured one"),
        Column("variant", TEXT, "the variant in config/methods that the row belongs to; empty without one"),
        *FIGURES,
        Column("sum", REAL, "sum of the six recalls", nullable=True),
        Column("sum_spread", REAL, "standard deviation of Sum over seeds", nullable=True),
        Column("mean_recall", REAL, "mR, the mean of the six recalls", nullable=True),
        Column("difference", REAL, "ours minus a published row, summed over the recalls it prints", nullable=True),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
    ),
)

ROUNDS = Schema(
    "rounds",
    "a round of a variant that learns correspondences",
    (
        Column("variant", TEXT, "the variant in config/methods"),
        Column("method", TEXT, "its name as printed"),
        Column("round", NUMBER, "the round; 0 is trained without correspondences"),
        Column("seeds", NUMBER, "how many seeds its figures are means of"),
        *FIGURES,
        Column("sum", REAL, "sum of the six recalls"),
        Column("sum_spread", REAL, "standard deviation of Sum over seeds", nullable=True),
        Column("mean_recall", REAL, "mR, the mean of the six recalls"),
        Column("gain", REAL, "Sum minus that of round 0"),
        *(
            Column(f"{choice}_accuracy", REAL, f"share of phrases given a right region: {meaning}", nullable=True)
            for choice, meaning in (
                ("learned", "the correspondences that the round was trained on"),
                ("whole_image", "always the whole image"),
                ("chance", "any region by chance"),
                ("best_possible", "the best of the regions"),
            )
        ),
    ),
)
