"""R-Precision of plausible matches (PMRP; Chun et al., Probabilistic Embeddings for Cross-Modal Retrieval, CVPR 2021).

The class vector of an image says which classes of objects it has. An image and a sentence match within z if the class
vectors of the image and of the sentence's own image differ in at most z classes. PMRP is the mean over z of the mean
over queries of the R-Precision, where all matches of a query are right answers. As in the authors' code, z is 0, 1 and
2, and images without an object are neither queries nor candidates.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.columns import IMAGE_ID
from densevse.config.values import RankedSentences
from densevse.data.files import Files
from densevse.datasets.coco import read_classes
from densevse.evaluation.protocols import TestSet
from densevse.evaluation.relevance import answer_ranks
from densevse.evaluation.retrieval import Scorer
from densevse.models.retrieval import encode_test
from densevse.runtime.arrays import Indices, as_array
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import REAL, TEXT, Column, Schema

WITHIN = (0, 1, 2)
"""The numbers of classes in which matches may differ."""

CLASSES = Schema(
    "classes",
    "a class of which an image has an object",
    (IMAGE_ID, Column("class", TEXT, "the name of the class")),
)
PLAUSIBLE = Schema(
    "plausible",
    "a query of the test split: an image or a sentence",
    (
        Column("direction", TEXT, "i2t or t2i"),
        IMAGE_ID,
        *(
            Column(f"within_{z}", REAL, f"R-Precision from 0 to 1; matches differ in at most {z} classes")
            for z in WITHIN
        ),
    ),
)


def write_classes(sources: Mapping[str, str], output: str) -> None:
    """The job that writes CLASSES of MS-COCO's instances_*.json, of the source `annotations`."""
    schema.write(read_classes(sources), CLASSES, output)


def write_plausible(
    model: str,
    classes: str,
    ranked_sentences: RankedSentences,
    threads: int,
    output: str,
    **files: str | list[str],
) -> None:
    """The job that writes PLAUSIBLE rows of a trained model; `files` are the model's inputs.

    Raises `InputError` as `encode_test` does, or if no image of the test split has an object.
    """
    encoded = encode_test({model: Files(files)}, threads, ranked_sentences)
    matches = Matches.from_test_set(encoded.rows, schema.read(classes, CLASSES), classes)
    rows = matches.precisions(encoded.scorers[0], encoded.rows.image_ids)
    schema.write(rows, PLAUSIBLE, output, split="test", **encoded.made_with)


class Matches(NamedTuple):
    """The images with an object, their sentences, and how many classes tell two of these images apart."""

    images: Indices  # (I,) their rows in the test set
    sentences: Indices  # (S,)
    own: Indices  # (S,) the place of each sentence's image among these
    differing: NDArray[np.int16]  # (I, I)

    @classmethod
    def from_test_set(cls, test_set: TestSet, classes: pd.DataFrame, path: str) -> "Matches":
        """The matches of a test set. Raises `InputError` that names the file of CLASSES if no image has an object."""
        found = classes[classes["image_id"].isin(test_set.image_ids)]
        if found.empty:
            raise InputError(f"{path}: no image of the test split has an object; check the annotations.")
        table = pd.crosstab(found["image_id"], found["class"])
        images = np.flatnonzero(np.isin(test_set.image_ids, table.index.to_numpy(object)))
        code = table.reindex(test_set.image_ids[images]).to_numpy(np.float32)
        counts = code.sum(axis=1)
        differing = (counts[:, None] + counts - 2 * code @ code.T).astype(np.int16)
        sentences = np.flatnonzero(np.isin(test_set.image_of_caption, images))
        own = np.searchsorted(images, test_set.image_of_caption[sentences])
        return cls(images, sentences, own, differing)

    def precisions(self, scorer: Scorer, image_ids: NDArray[np.object_]) -> pd.DataFrame:
        """PLAUSIBLE rows by the scores of a model; `image_ids` are those of the test set."""
        block, (images, sentences) = scorer(self.images, self.sentences), (len(self.images), len(self.sentences))
        ids = image_ids[self.images]
        i2t = {"direction": "i2t", "image_id": ids}
        t2i = {"direction": "t2i", "image_id": ids[self.own]}
        for z in WITHIN:
            near = self.differing <= z
            i2t[f"within_{z}"] = _precision(
                lambda queries: as_array(block(queries, slice(0, sentences))), (row[self.own] for row in near)
            )
            t2i[f"within_{z}"] = _precision(
                lambda queries: as_array(block(slice(0, images), queries)).T, (near[image] for image in self.own)
            )
        return pd.concat([pd.DataFrame(i2t), pd.DataFrame(t2i)], ignore_index=True)


def _precision(scores: Callable[[slice], NDArray[Any]], right: Iterable[NDArray[np.bool_]]) -> NDArray[np.float32]:
    """(Q,) the R-Precision of queries, from their scores and whether each candidate is a right answer."""
    answers = (np.flatnonzero(row) for row in right)
    truth = {query: (found, np.ones(len(found))) for query, found in enumerate(answers)}
    return answer_ranks(scores, truth).metrics(())["rprecision"].astype(np.float32)
