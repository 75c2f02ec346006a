"""Boxes that may hold an object, and how well they cover the true ones."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import BOX, IMAGE_ID, NUMBER, REAL, TEXT

PROPOSALS = Schema(
    "proposals",
    "a box that may hold an object",
    (
        IMAGE_ID,
        Column("rank", NUMBER, "position in the proposer's order, from 0"),
        *BOX,
        Column("score", REAL, "the proposer's score, higher is better (no unit; falls with rank)"),
        Column("class_name", TEXT, "the class of a detection; empty where the proposer knows none"),
    ),
    version=2,
)

PROPOSAL_RECALL = Schema(
    "proposal_recall",
    "a number of boxes an image",
    (
        Column("boxes", NUMBER, "how many boxes an image are looked at, in rank order; 0 means all of them"),
        Column("boxes_mean", REAL, "how many boxes an image there were, mean"),
        Column("average_best_overlap", REAL, "mean over true boxes of the best intersection over union"),
        *(
            Column(f"recall_{percent}", REAL, f"share of true boxes overlapped by at least {percent / 100}")
            for percent in (50, 70, 85)
        ),
        Column("true_boxes", NUMBER, "how many true boxes"),
    ),
    version=2,
)
