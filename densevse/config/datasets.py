"""Data sets: where their files come from, who reads them, and what the stages use on them."""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, cast, get_args

from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, model_validator

from densevse.analyses.localisation.settings import Localisation
from densevse.config.generators import Captions
from densevse.config.networks import View
from densevse.config.options import of_type
from densevse.config.sources import Path, Source
from densevse.config.strict import Strict

Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(gt=0)]


def _encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError(f"{name!r} is no encoding that Python knows; utf-8 and latin-1 are usual") from None
    return name


def _as_text(image_id: Any) -> Any:
    if isinstance(image_id, bool | int | float | date):
        raise ValueError(
            f"{image_id} is no text; put each id in quotes, as the data set's files write it: without them YAML makes "
            'other values of some, such as the number 10 of "0012"'
        )
    return image_id


ImageId = Annotated[str, Field(min_length=1), BeforeValidator(_as_text)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Of = TypeVar("Of")


def _every_split(values: dict[Split, Of]) -> dict[Split, Of]:
    missing = [split for split in get_args(Split) if split not in values]
    if missing:
        raise ValueError(f"each of {', '.join(get_args(Split))} is needed; there is no {' and no '.join(missing)}")
    return values


BySplit = Annotated[dict[Split, Of], AfterValidator(_every_split)]


class ReaderOptions(Strict):
    """What a reader of one official layout may be told."""

    SOURCES: ClassVar[frozenset[str]] = frozenset()
    """The names of the sources that it knows, whether config/ lists them or not."""
    HAS_BOXES: ClassVar[bool] = False
    """Whether the official files hold true boxes."""
    HAS_MASKS: ClassVar[bool] = False
    """Whether the objects of the official files have masks."""
    PHRASES_HAVE_BOXES: ClassVar[bool] = False
    """Whether the true boxes are those of noun phrases of the sentences."""
    IMPLEMENTATION: ClassVar[str]
    """The module that reads the layout; only jobs that read such a data set import it."""
    SENTENCES: ClassVar[str]
    """The source of the sentences, where Karpathy's file does not give them."""

    @property
    def needed(self) -> str:
        """The source that it cannot do without, beside images."""
        return "karpathy" if getattr(self, "karpathy", None) else self.SENTENCES


class Flickr(ReaderOptions):
    """A token file of captions, and lists of images for each split or Karpathy's file (densevse/datasets/flickr.py)."""

    IMPLEMENTATION = "densevse.datasets.flickr"
    SOURCES = frozenset({"images", "text", "karpathy"})
    SENTENCES = "text"

    captions: str = Field(min_length=1, description="the token file's name")
    splits: BySplit[str] | None = Field(None, description="split -> the name of its list of images")
    karpathy: str | None = Field(None, description="the name of Karpathy's file, which gives the splits instead")
    encoding: Encoding = Field("utf-8", description="of the text files")

    @model_validator(mode="after")
    def _one_division(self) -> Self:
        _check_one_of(self, "splits", "karpathy")
        return self


class Karpathy(ReaderOptions):
    """Karpathy's caption file alone (densevse/datasets/karpathy.py)."""

    IMPLEMENTATION = "densevse.datasets.karpathy"
    SOURCES = frozenset({"images", "karpathy"})
    SENTENCES = "karpathy"

    karpathy: str = Field(min_length=1, description="the name of Karpathy's file")


class Coco(ReaderOptions):
    """MS-COCO's annotations (densevse/datasets/coco.py)."""

    IMPLEMENTATION = "densevse.datasets.coco"
    SOURCES = frozenset({"images", "train2014", "val2014", "annotations", "karpathy"})
    SENTENCES = "annotations"
    HAS_BOXES = True
    HAS_MASKS = True

    karpathy: str | None = Field(None, description="the name of Karpathy's file: splits, order and sentences")
    splits: BySplit[Count] | None = Field(None, description="split -> number of images, drawn at random, instead")
    seed: Seed = Field(0, description="of the images drawn")

    @model_validator(mode="after")
    def _one_division(self) -> Self:
        _check_one_of(self, "splits", "karpathy")
        return self


class Pascal(ReaderOptions):
    """Pascal1K's page or text files (densevse/datasets/pascal.py)."""

    IMPLEMENTATION = "densevse.datasets.pascal"
    SOURCES = frozenset({"images", "sentences"})
    SENTENCES = "sentences"

    splits: BySplit[Count] = Field(description="split -> number of images, drawn at random")
    seed: Seed = Field(0, description="of the images drawn")
    encoding: Encoding = Field("utf-8", description="of the page or text files")


class Scenes(ReaderOptions):
    """The embedded data set (densevse/scenes/reader.py)."""

    IMPLEMENTATION = "densevse.scenes.reader"
    SOURCES = frozenset({"scenes"})
    SENTENCES = "scenes"
    HAS_BOXES = True
    PHRASES_HAVE_BOXES = True

    images: BySplit[Count] = Field(description="split -> number of pictures")
    seed: Seed = Field(0, description="of everything in them")
    size: int = Field(96, ge=32, description="side of a picture, pixels")


READERS: dict[str, type[ReaderOptions]] = {
    "flickr": Flickr,
    "karpathy": Karpathy,
    "coco": Coco,
    "pascal": Pascal,
    "scenes": Scenes,
}


def _check_one_of(options: Strict, *names: str) -> None:
    if sum(getattr(options, name) is not None for name in names) != 1:
        raise ValueError(f"one of {' and '.join(names)} must be given, and not both (null unsets one)")


class Reading(Strict):
    """Who reads a data set's files, and what the reader is told."""

    reader: Literal["flickr", "karpathy", "coco", "pascal", "scenes"]
    options: Annotated[SerializeAsAny[Strict], of_type("reader", READERS)] = Field(
        default={}, validate_default=True, description="the reader's own options"
    )
    known_unreadable: list[ImageId] = Field(default=[], description="image ids that may be missing or unreadable")
    only_available: bool = Field(False, description="whether images that are missing are left out, and a table says so")


class Ballot(Strict):
    """The learned correspondences that people are asked to judge (HM-LSTM, section 5.3.2)."""

    pairs: int = Field(2000, ge=1, description="how many are drawn at random from all of the training data")
    seed: Seed = Field(0, description="of the draw")


class Dataset(Reading):
    """A data set: where its files come from, who reads them, and what the stages use on it."""

    title: str = Field(min_length=1)
    sources: dict[str, Source] = Field(default={}, description="by name; the reader says which names it needs")
    local: dict[str, Path] = Field(default={}, description="source name -> a file or folder of yours to use instead")
    minimum_word_count: int = Field(1, ge=1, description="rarer words become the unknown word")
    concepts: int = Field(256, ge=1, description="the most frequent concepts that are kept (SCO's K)")
    shards: int = Field(1, ge=1, description="files per sharded artifact; results do not depend on it")
    threads: int | None = Field(None, ge=1, description="threads of a job, instead of the general `threads`")
    networks: dict[View, str] = Field(description="view -> the network whose features every method is given")
    proposer: str = "selective_search_fast"
    proposers_compared: list[str] = Field(default=[], description="further proposers in its table of proposals")
    parser: str = "corenlp_pcfg"
    word_vectors: str | None = Field("word2vec", description="pre-trained vectors for methods that ask for some")
    triplets_shown: list[Annotated[list[str], Field(min_length=3, max_length=3)]] = Field(
        default=[],
        description="relation, governor, dependent: the best regions of these triplets are drawn (DeFrag, Fig 5)",
    )
    arithmetic_shown: list[Annotated[list[str], Field(min_length=3, max_length=3)]] = Field(
        default=[], description="image, word taken away, word added: vector arithmetic that is drawn (VSE)"
    )
    words_exchanged: dict[str, Annotated[list[str], Field(min_length=2)]] = Field(
        default={},
        description="kind, e.g. colour -> words of true objects' names, any of which arithmetic puts for another",
    )
    localisation: Localisation = Field(
        default={}, validate_default=True, description="phrases that are looked for in windows of images (VSE)"
    )
    seeds: list[Seed] = Field(default=[0], min_length=1, description="each variant is trained once with each")
    captions: Captions = Field(default={}, validate_default=True, description="the table of generated sentences")
    judgements: str | None = Field(
        None, description="the source that holds people's judgements of pairs, in the format of Flickr8k's"
    )
    ballot: Ballot = Field(default={}, validate_default=True, description="pairs of a phrase and a region to judge")
    votes: dict[str, Path] = Field(
        default={}, description="variant -> people's votes on its ballot: CSV with the columns pair, voter, correct"
    )
    boxes: Path | None = Field(
        None, description="true boxes of yours: Parquet in the BOXES schema, or Flickr30k Entities (folder, zip, tar)"
    )

    @model_validator(mode="after")
    def _known_sources(self) -> Self:
        known = READERS[self.reader].SOURCES | self.sources.keys()
        unknown = sorted(self.local.keys() - known)
        if unknown:
            raise ValueError(f"local: no source {unknown[0]!r}; known: {', '.join(sorted(known))}")
        return self

    @model_validator(mode="after")
    def _sentences_are_a_source(self) -> Self:
        needed = cast(ReaderOptions, self.options).needed
        if needed not in self.sources.keys() | self.local.keys():
            raise ValueError(
                f"local: the reader {self.reader} needs the source {needed!r} as well; name a file or folder of yours"
            )
        return self

    @model_validator(mode="after")
    def _judgements_are_a_source(self) -> Self:
        if self.judgements is not None and self.judgements not in self.sources.keys() | self.local.keys():
            raise ValueError(f"judgements: no source {self.judgements!r}; known: {', '.join(sorted(self.sources))}")
        return self

    @model_validator(mode="after")
    def _objects_have_names(self) -> Self:
        if self.words_exchanged and not self.has_boxes:
            raise ValueError("words_exchanged: the data set has no true boxes, which say what objects are called")
        return self

    @model_validator(mode="after")
    def _seeds_differ(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds: {self.seeds} holds a seed twice")
        return self

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
