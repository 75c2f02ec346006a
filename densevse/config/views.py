"""The views of images and the structures of sentences that a method may read, and what it may yield besides scores.

Each is an entry of a table here, with its implementation elsewhere:

- view: densevse/vision/views/<name>.py makes the crops that a network reads, if features are extracted for it, and
  densevse/data/views/<opened_by>.py opens it for a method;
- structure: densevse/data/structures/<name>.py;
- yield: functions of `Method` (densevse/methods/interface.py). An analysis that shows it applies to the variants whose
  configuration lists its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator

from densevse.config.registry import Registry


@dataclass(frozen=True)
class ViewFacts:
    """A view of images: the facts that the plan needs."""

    opened_by: str = "vectors"
    """The module of densevse/data/views that opens the view for a method."""
    made_by: Literal["network", "concept_network", "generator"] = "network"
    extracted: bool = False
    """True if a network computes its features from the crops of densevse/vision/views/<name>.py."""
    one_vector: bool = False
    """True if it is one vector for an image, so that a window of the image can be read in the same way."""
    of_proposals: bool = False
    """True if it has a vector for each region chosen from the boxes of the data set's proposer."""
    features_of: str | None = None
    """Another view, from whose features it is opened."""
    pixels: bool = False
    """True if it is opened from the image files, for a network that is trained with the method."""


VIEWS: Registry[ViewFacts] = Registry(
    "view",
    {
        # The central square of an image as one vector (VSE++).
        "centre": ViewFacts(extracted=True, one_vector=True),
        # The scores of concepts, of the best of an image's regions for each (SCO, section 3.2).
        "concepts": ViewFacts(made_by="concept_network"),
        # The scores of concepts, of the whole image alone.
        "concepts_whole": ViewFacts(made_by="concept_network"),
        # The pixels of regions (DeFrag, section 3.4).
        "crops": ViewFacts(opened_by="crops", features_of="regions", pixels=True),
        # The first sentence that a generator wrote about an image (SCO's context and sentence).
        "generated_captions": ViewFacts(opened_by="generated_captions", made_by="generator"),
        # The cells of a convolution (sm-LSTM).
        "grid": ViewFacts(extracted=True),
        # The regions of an image, the whole image first (DeFrag, HM-LSTM).
        "regions": ViewFacts(opened_by="regions", of_proposals=True),
        # The mean vector of ten crops of an image (SCO, section 4.2).
        "ten_crop": ViewFacts(extracted=True, one_vector=True),
        # The whole image as one vector.
        "whole": ViewFacts(extracted=True, one_vector=True),
    },
)
ViewName = Annotated[str, AfterValidator(VIEWS.check), VIEWS.enum]


def described_by(view: str) -> str:
    """The view whose features and network a view uses: its own, unless it is opened from another's."""
    return VIEWS[view].features_of or view


@dataclass(frozen=True)
class StructureFacts:
    """A structure of sentences: the facts that the plan needs."""

    parsed: bool = True
    """True if it is read from parses."""
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    """The job's input -> the file of vocabulary/, without .parquet; {dependencies} is replaced by their kind."""
    by_network: bool = False
    """True if the network of a method's views reads the sentence itself: its sentence encoder is not trained, and there
    is no vocabulary."""
    basic: bool = False
    """True if it needs basic dependencies, as enhanced ones are not trees."""


STRUCTURES: Registry[StructureFacts] = Registry(
    "structure of sentences",
    {
        # The dependency tree of a sentence (SDT-RNN).
        "dependencies": StructureFacts(vocabularies={"relations": "relations-{dependencies}"}, basic=True),
        # The words of a sentence with their part-of-speech tags (SC-NLM).
        "tags": StructureFacts(vocabularies={"tags": "tags"}),
        # The sentence itself, cut into tokens by the network that encodes it (CLIP).
        "text": StructureFacts(parsed=False, by_network=True),
        # The constituency tree of a sentence (HM-LSTM).
        "trees": StructureFacts(),
        # The dependency triplets of a sentence (DeFrag, section 3.1).
        "triplets": StructureFacts(vocabularies={"relations": "relations-{dependencies}"}),
        # The words of a sentence.
        "words": StructureFacts(parsed=False),
    },
)
StructureName = Annotated[str, AfterValidator(STRUCTURES.check), STRUCTURES.enum]


YIELDS: Registry[str] = Registry(
    "yield",
    {
        # Phrases and regions in one space (HM-LSTM, section 5.3).
        "phrases": "vectors of phrases and of regions",
        # Attention, drawn over images and sentences (sm-LSTM, figure 4).
        "saliency": "what it attends to in images and sentences",
    },
)
"""Results of a trained model besides scores, each with its description."""
YieldName = Annotated[str, AfterValidator(YIELDS.check), YIELDS.enum]
