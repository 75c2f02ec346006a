"""True answers to MS-COCO's test images and sentences, from the package eccv_caption.

ECCV Caption: Chun et al., ECCV Caption: Correcting False Negatives by Collecting Machine-and-Human-verified
Image-Caption Associations for MS-COCO, ECCV 2022. CxC: Parekh et al., Crisscrossed Captions, EACL 2021.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple, TypeAlias

from eccv_caption import Metrics

Answers: TypeAlias = Mapping[int, Sequence[int]]
"""The true answers of each query, by MS-COCO's ids: images by number, sentences by annotation."""


class ExtendedTruth(NamedTuple):
    """True answers, by direction (i2t, t2i)."""

    own: Mapping[str, Answers]  # each of the 5,000 images and its five sentences
    benchmarks: Mapping[str, Mapping[str, Answers]]  # eccv and cxc


def read_truth() -> ExtendedTruth:
    """Reads the true answers from the installed package."""
    held = Metrics()
    return ExtendedTruth(held.coco_gts, {"eccv": held.eccv_gts, "cxc": held.cxc_gts})


def version_of_truth() -> str:
    """The package's version."""
    return version("eccv_caption")
