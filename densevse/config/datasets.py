"""Data sets: where their files come from, who reads them, and what the stages use on them."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Self, cast

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from densevse.config.declared.readers import READERS, ReaderName, ReaderOptions
from densevse.config.declared.views import ViewName
from densevse.config.features import GivenFeatures
from densevse.config.names import FileName
from densevse.config.options import of_type
from densevse.config.sources import Path, Source
from densevse.config.strict import Strict
from densevse.config.values import RankedSentences, Seeds


def _as_text(image_id: Any) -> Any:
    if isinstance(image_id, bool | int | float | date):
        raise ValueError(
            f"{image_id} is no text; put each id in quotes, as the data set's files write it: without them YAML makes "
            'other values of some, such as the number 10 of "0012"'
        )
    return image_id


ImageId = Annotated[str, Field(min_length=1), BeforeValidator(_as_text)]


class Reading(Strict):
    """Who reads a data set's files, and what the reader is told."""

    reader: ReaderName = Field(description="the published layout that the files have")
    options: Annotated[SerializeAsAny[Strict], of_type("reader", READERS)] = Field(
        default={}, validate_default=True, description="the reader's own options"
    )
    known_unreadable: list[ImageId] = Field(default=[], description="image ids that may be missing or unreadable")
    only_available: bool = Field(False, description="whether images that are missing are left out, and a table says so")


class Resplit(Strict):
    """Splits that are drawn at random from all images of another data set."""

    of: str = Field(description="the data set whose images are divided; it says all that this entry does not")
    seed: int = Field(ge=0, description="of the random draw")
    train: int = Field(ge=1, description="images of the split train")
    val: int = Field(ge=1, description="images of the split val")
    test: int = Field(ge=1, description="images of the split test")


class Dataset(Reading):
    """A data set: where its files come from, who reads them, and what the stages use on it."""

    RENAMED = {
        "proposers_compared": "proposal_recall.<data set>.proposers",
        "triplets_shown": "alignments.<data set>.triplets",
        "arithmetic_shown": "arithmetic.<data set>.queries",
        "words_exchanged": "arithmetic.<data set>.exchanged",
        "localisation": "localisation.<data set>",
        "captions": "caption_scores.<data set>",
        "judgements": "human_judgements.<data set>.source",
        "ballot": "votes.<data set>.ballot",
        "votes": "votes.<data set>.files",
    }

    title: str = Field(min_length=1, description="as printed in a table")
    sources: dict[str, Source] = Field(default={}, description="by name; the reader says which names it needs")
    local: dict[str, Path] = Field(default={}, description="source name -> a file or folder of yours to use instead")
    about_images: int | None = Field(None, ge=1, description="how many there are, for the estimates of `densevse plan`")
    sentences: RankedSentences = Field(
        "all", description="which sentences of a test image are ranked; MS-COCO's images have up to seven"
    )
    top: int = Field(10, ge=1, description="how many of the best candidates of each query a retrieval lists")
    minimum_word_count: int = Field(1, ge=1, description="rarer words become the unknown word")
    concepts: int = Field(256, ge=1, description="the most frequent concepts that are kept (SCO's K)")
    shards: int = Field(1, ge=1, description="files per sharded artifact; results do not depend on it")
    threads: int | None = Field(None, ge=1, description="threads of a job, instead of the general `threads`")
    networks: dict[ViewName, str] = Field(description="view -> the network whose features every method is given")
    features: dict[FileName, GivenFeatures] = Field(
        default={}, description="features that were computed elsewhere, by a name that stands in networks"
    )
    proposer: str = Field(default="selective_search_fast", description="of config/proposers: finds boxes for regions")
    parser: str = Field(default="corenlp_pcfg", description="of config/parsers: parses the sentences")
    word_vectors: str | None = Field("word2vec", description="pre-trained vectors for methods that ask for some")
    seeds: Seeds = Field(default=[0], description="each variant is trained once with each")
    boxes: Path | None = Field(
        None, description="true boxes of yours: Parquet in the BOXES schema, or Flickr30k Entities (folder, zip, tar)"
    )

    resplit: Resplit | None = Field(None, description="splits drawn at random from the images of another data set")

    @model_validator(mode="after")
    def _known_sources(self) -> Self:
        known = READERS[self.reader].SOURCES | self.sources.keys()
        unknown = sorted(self.local.keys() - known)
        if unknown:
            raise ValueError(f"local: no source {unknown[0]!r}; known: {', '.join(sorted(known))}")
        return self

    @model_validator(mode="after")
    def _features_have_files(self) -> Self:
        for name, given in self.features.items():
            for view in given.views:
                if given.file_of(view).format == "scan" and self.reader != "scan":
                    raise ValueError(
                        f"features.{name}.{view}.format: scan is of the reader scan alone; "
                        "write array, and name the id file as ids"
                    )
        return self

    @model_validator(mode="after")
    def _sentences_are_a_source(self) -> Self:
        needed = cast(ReaderOptions, self.options).needed
        if needed not in self.sources.keys() | self.local.keys():
            raise ValueError(
                f"local: the reader {self.reader} needs the source {needed!r} as well; name a file or folder of yours"
            )
        return self

    def feature_files(self) -> Iterator[tuple[str, str]]:
        """The files of given features, each with its key below `features`."""
        for name, given in self.features.items():
            for view in given.views:
                for key in ("path", "ids", "boxes"):
                    path: str | None = getattr(given.file_of(view), key)
                    if path is not None:
                        yield f"{name}.{view}.{key}", path

    @property
    def has_pictures(self) -> bool:
        """Whether there are pictures, and not only features of them."""
        return READERS[self.reader].HAS_PICTURES

    @property
    def has_boxes(self) -> bool:
        """Whether there are true boxes, official ones or the user's."""
        return self.boxes is not None or READERS[self.reader].HAS_BOXES

    @property
    def has_masks(self) -> bool:
        """Whether the masks of objects are known."""
        return READERS[self.reader].HAS_MASKS

    @property
    def phrases_have_boxes(self) -> bool:
        """Whether noun phrases of the sentences have true boxes."""
        return self.boxes is not None or READERS[self.reader].PHRASES_HAVE_BOXES


class Brought(Dataset):
    """A data set that an analysis brings: photographs without sentences, or sentences without photographs.

    The stages treat it as they treat the data set `of`, on which the models were trained: the same networks in the same
    precision, the same proposer, parser and vocabulary.
    """

    of: str
