"""Aligns regions with the triplets of sentences by a trained DeFrag (section 4.3)."""

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from densevse.analyses.alignments.alignments import ALIGNMENTS, TRIPLET_REGIONS
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.data.structures.triplets import TripletsOfSentences
from densevse.language.triplets import Triplet, frequent_relations
from densevse.methods.defrag import DeFrag
from densevse.methods.structures import Triplets
from densevse.models.embedding import IMAGES_AT_ONCE
from densevse.models.encoding import batches, evaluation
from densevse.models.encodings import encode_image_rows
from densevse.models.files import open_model
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import progress

_WORDS = list(Triplet._fields)
_SHOWN, _BEST = 8, 6  # number of frequent triplets for Figure 5, and of regions for each


def write_alignments(
    model: str,
    retrieval: str,
    triplets: Sequence[Sequence[str]],
    threads: int,
    alignments: str,
    regions: str,
    **files: str | list[str],
) -> None:
    """The job that writes the ALIGNMENTS of the test split, and the TRIPLET_REGIONS of frequent and named triplets.

    `retrieval` gives the sentence that each image ranks first. `triplets` are the named ones: relation, governor and
    dependent. `files` are the inputs of the model. Raises `InputError` as `find_triplet_regions` does, or if the method
    of the model aligns no triplets.
    """
    abilities = ("embed_regions", "embed_triplets", "assign")
    inputs, opened = open_model(Files(files), model, set_up(threads), *abilities)
    method, pairs = cast(DeFrag, opened), inputs.pairs("test")
    with evaluation(method):
        found = align(method, inputs, pairs, top_sentences(retrieval, pairs))
        best = find_triplet_regions(method, inputs, pairs, [Triplet(*triplet) for triplet in triplets])
    schema.write(found, ALIGNMENTS, alignments)
    schema.write(best, TRIPLET_REGIONS, regions)


def top_sentences(retrieval: str, pairs: Pairs) -> Indices:
    """(images, 2) an image of a split and the sentence that it ranks first, in the first fold with the image."""
    rows = schema.read(retrieval, RETRIEVAL, ["direction", "query_id", "top"])
    rows = rows[rows["direction"] == "i2t"].drop_duplicates("query_id")
    images = pd.Index(pairs.rows.image_ids).get_indexer(pd.Index(rows["query_id"]))
    sentences = pd.Index(pairs.rows.caption_ids).get_indexer(pd.Index([top[0] for top in rows["top"]]))
    if (images < 0).any() or (sentences < 0).any():
        raise InputError(f"{retrieval}: of another split than test; delete it and run snakemake again.")
    return np.column_stack((images, sentences))


def align(method: DeFrag, inputs: Inputs, pairs: Pairs, first: Indices) -> pd.DataFrame:
    """ALIGNMENTS rows: the triplets of each image's own sentences, and of the sentence that it ranks first."""
    own = np.column_stack((pairs.rows.image_of_caption, np.arange(len(pairs.rows.caption_ids))))
    wanted = np.unique(np.concatenate((own, first)), axis=0)
    parts = [
        _align_pairs(method, inputs, pairs, wanted[np.isin(wanted[:, 0], images)])
        for images in progress(batches(len(pairs.rows.image_ids), IMAGES_AT_ONCE), "alignments")
    ]
    return _add_boxes(pd.concat(parts, ignore_index=True), inputs)


def find_triplet_regions(method: DeFrag, inputs: Inputs, pairs: Pairs, named: Sequence[Triplet]) -> pd.DataFrame:
    """TRIPLET_REGIONS rows: the best regions of some triplets in the split, one for each image.

    The triplets are the most frequent one of each of the most frequent relations, and those `named`. Raises
    `InputError` for a named triplet with a rare relation or unknown words.
    """
    triplets, counts = _select_triplets(method, inputs, pairs, named)
    s = method.embed_triplets(triplets)
    best: list[tuple[Tensor, Tensor]] = []
    for images in batches(len(pairs.rows.image_ids), IMAGES_AT_ONCE):
        v, present = encode_image_rows(method, pairs, images)
        scores = torch.einsum("ird,td->tir", v, s).masked_fill(~present, -torch.inf)
        best.append((scores.amax(dim=2), scores.argmax(dim=2)))
    scores, regions = (torch.cat(parts, dim=1).cpu() for parts in zip(*best, strict=True))
    score, image = scores.topk(min(_BEST, scores.shape[1]), dim=1)
    region = regions.gather(1, image)
    names = _triplet_words(triplets, inputs).assign(sentences=counts)
    rows = names.loc[names.index.repeat(image.shape[1])].reset_index(drop=True)
    rows = rows.assign(
        image_id=pairs.rows.image_ids[image.flatten().numpy()],
        region=region.flatten().numpy(),
        score=score.flatten().numpy(),
    )
    return _add_boxes(rows, inputs)


def _align_pairs(method: DeFrag, inputs: Inputs, pairs: Pairs, wanted: Indices) -> pd.DataFrame:
    """The rows of some pairs of an image and a sentence, still without boxes."""
    structure = _triplet_structure(pairs)
    images, image = np.unique(wanted[:, 0], return_inverse=True)
    triplets = structure.take(wanted[:, 1])
    known = method.known_on_host()[triplets.governor] & method.known_on_host()[triplets.dependent]
    owner = np.repeat(np.arange(len(wanted)), triplets.lengths)[known]
    kept = Triplets(triplets.relation[known], triplets.governor[known], triplets.dependent[known], triplets.lengths)
    v, present = encode_image_rows(method, pairs, images)
    of_image = torch.from_numpy(image[owner]).to(v.device)
    region, score = method.assign(v[of_image], present[of_image], method.embed_triplets(kept))
    tokens = structure.tokens(wanted[:, 1])[known]
    return _triplet_words(kept, inputs).assign(
        image_id=pairs.rows.image_ids[wanted[owner, 0]],
        caption_id=pairs.rows.caption_ids[wanted[owner, 1]],
        governor_token=tokens[:, 0],
        dependent_token=tokens[:, 1],
        region=region.cpu().numpy(),
        score=score.cpu().numpy(),
    )


def _select_triplets(
    method: DeFrag, inputs: Inputs, pairs: Pairs, named: Iterable[Triplet]
) -> tuple[Triplets, list[int]]:
    """The triplets to show, and the number of each in the split's sentences."""
    every = _triplet_structure(pairs).take(np.arange(len(pairs.rows.caption_ids)))
    known = method.known_on_host()[every.governor] & method.known_on_host()[every.dependent]
    rows = np.column_stack((every.relation, every.governor, every.dependent))[known]
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    table = (
        pd.DataFrame(distinct, columns=_WORDS).assign(count=counts).sort_values("count", ascending=False, kind="stable")
    )
    total = table.groupby("relation")["count"].sum().sort_values(ascending=False, kind="stable")
    frequent = table.drop_duplicates("relation").set_index("relation").loc[total.index[:_SHOWN]].reset_index()
    shown = [tuple(row) for row in frequent[_WORDS].itertuples(index=False)]
    shown += [number for number in (_encode_triplet(method, inputs, one) for one in named) if number not in shown]
    found = {tuple(row[:3]): int(row[3]) for row in table.itertuples(index=False)}
    relation, governor, dependent = np.array(shown, np.int64).T
    triplets = Triplets(relation, governor, dependent, np.array([len(shown)]))
    return triplets, [found.get(number, 0) for number in shown]


def _encode_triplet(method: DeFrag, inputs: Inputs, triplet: Triplet) -> tuple[int, int, int]:
    relations = frequent_relations(inputs.files.input_path("relations"))
    words = inputs.vocabulary.encode([triplet.governor, triplet.dependent])
    if triplet.relation not in relations or not method.known_on_host()[words].all():
        raise InputError(
            f"triplets: {triplet.relation}({triplet.governor}, {triplet.dependent}) cannot be shown: its words must be "
            f"known, and its relation one of {', '.join(relations)}."
        )
    return relations.index(triplet.relation), words[0], words[1]


def _triplet_words(triplets: Triplets, inputs: Inputs) -> pd.DataFrame:
    """Relation, governor and dependent of triplets, as words."""
    relations = np.array(frequent_relations(inputs.files.input_path("relations")), object)
    words = np.array(["", "", *inputs.vocabulary.words], object)
    return pd.DataFrame(
        {
            "relation": relations[triplets.relation],
            "governor": words[triplets.governor],
            "dependent": words[triplets.dependent],
        }
    )


def _triplet_structure(pairs: Pairs) -> TripletsOfSentences:
    structure = pairs.structures.get("triplets")
    if not isinstance(structure, TripletsOfSentences):
        raise InputError("alignments are of triplets: the method's `sentences` must hold triplets.")
    return structure


def _add_boxes(rows: pd.DataFrame, inputs: Inputs) -> pd.DataFrame:
    boxes = inputs.regions.rows[["image_id", "rank", *BOX]].rename(columns={"rank": "region"})
    return rows.merge(boxes, on=["image_id", "region"], how="left", validate="many_to_one")
