"""Data sets: the sources and the reader of their files, settings of the stages on them, parsers and word vectors."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from densevse.config.networks import GivenFeatures
from densevse.config.readers import READERS, ReaderName, ReaderOptions
from densevse.config.registries import ViewName
from densevse.config.sources import Path, Source
from densevse.config.values import DatasetName, Exact, Language, Length, RankedSentences, Seeds, Split, Threads
from snakeproof.strict import FileName, Strict, Title, type_validator


class CoreNLP(Strict):
    """Stanford CoreNLP."""

    model: str = Field(min_length=1, description="the constituency parser, a path inside the models' jars")
    longest: int = Field(ge=1, description="the longest sentence in tokens; longer ones are recorded as not parsed")
    annotators: list[str] = Field(
        default=["tokenize", "ssplit", "pos", "lemma", "parse", "depparse"],
        min_length=1,
        description="CoreNLP's steps, in their order",
    )
    batch: int = Field(50, ge=1, description="captions in one request")
    timeout: float = Field(120, gt=0, description="the time-out of a request in seconds")
    memory_mb: int = Field(4000, ge=2500, description="the memory that the job requests, in MB, with Python's part")


class Grammar(Strict):
    """The grammar of the sentences of scenes, which has no options."""


PARSERS: dict[str, type[Strict]] = {"corenlp": CoreNLP, "grammar": Grammar}


class ParserConfig(Strict):
    """A parser of sentences."""

    kind: Literal["corenlp", "grammar"] = Field(description="the program that parses")
    options: Annotated[SerializeAsAny[Strict], type_validator("kind", PARSERS)] = Field(
        default={}, validate_default=True, description="of this kind"
    )


class WordVectors(Strict):
    """Pre-trained word vectors."""

    format: Literal["word2vec", "glove"] = Field(description="the layout of the file")
    source: Source | None = Field(None, description="published vectors")
    local: Path | None = Field(None, description="your own file to use in its place, plain or compressed (.gz, .zip)")
    member: str | None = Field(None, min_length=1, description="the file to read in a .zip")
    dimension: Length = Field(description="the length of a vector")

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        if not (self.source or self.local):
            raise ValueError("word vectors need a source or local (your own file)")
        return self


def _check_image_id(image_id: Any) -> Any:
    if isinstance(image_id, bool | int | float | date):
        raise ValueError(
            f"{image_id} is not text; put each id in quotes, as the data set's files write it: without them YAML "
            'changes some, such as "0012" into the number 10'
        )
    return image_id


ImageId = Annotated[str, Field(min_length=1), BeforeValidator(_check_image_id)]


class Reading(Strict):
    """The reader of a data set's files, and its options."""

    reader: ReaderName = Field(description="the reader: the published layout of the files")
    options: Annotated[SerializeAsAny[Strict], type_validator("reader", READERS)] = Field(
        default={}, validate_default=True, description="the reader's own options"
    )
    known_unreadable: list[ImageId] = Field(default=[], description="image ids that may be missing or unreadable")
    only_available: bool = Field(False, description="leave out missing images; tables then say so")
    sides: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None = Field(
        None,
        strict=False,
        description="the smallest and the largest side of its pictures, pixels, if you know them: then a new way to "
        "resize pictures makes only features again that it changes",
    )

    @model_validator(mode="after")
    def _check_sides(self) -> Self:
        if self.sides and self.sides[0] > self.sides[1]:
            raise ValueError(f"sides: the smallest, {self.sides[0]}, is above the largest, {self.sides[1]}; swap them")
        return self


class Resplit(Strict):
    """Splits that are drawn at random from all images of another data set."""

    of: DatasetName = Field(description="the data set whose images are divided; it says all that this entry does not")
    seed: int = Field(ge=0, description="of the random draw")
    train: int = Field(ge=1, description="images of the split train")
    val: int = Field(ge=1, description="images of the split val")
    test: int = Field(ge=1, description="images of the split test")
    chosen_on: int | None = Field(
        None, ge=0, description="the seed of the resplit whose val chose settings: its val images leave the split test"
    )


class Dataset(Reading):
    """A data set: the sources and the reader of its files, and settings of the stages on it."""

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

    title: Title = Field(description="the name in tables")
    language: Language | None = Field(
        None, description="the language of its sentences as mteb names it, such as deu-Latn; by default eng-Latn"
    )
    sources: dict[str, Source] = Field(
        default={}, description="files by name; the reader defines the names that it needs"
    )
    local: dict[str, Path] = Field(default={}, description="source name -> your own file or folder to use in its place")
    about_images: int | None = Field(
        None, ge=1, description="the number of images, for the memory that jobs request and for `densevse plan`"
    )
    sentences: RankedSentences = Field(
        "all", description="the sentences of a test image that are ranked; MS-COCO's images have up to seven"
    )
    top: int = Field(10, ge=1, le=10**5, description="best candidates of each query that a retrieval lists")
    minimum_word_count: int = Field(1, ge=1, description="rarer words become the unknown word")
    concepts: int = Field(256, ge=1, description="the number of most frequent concepts that are kept (SCO's K)")
    shards: int = Field(1, ge=1, le=1000, description="files of a sharded artifact; results do not depend on it")
    threads: Threads | None = Field(None, description="threads of a job, in place of the general `threads`")
    exact: Exact | None = Field(None, description="whether its jobs are exact, in place of the general `exact`")
    networks: dict[ViewName, str] = Field(description="view -> the network whose features methods read")
    features: dict[FileName, GivenFeatures] = Field(
        default={}, description="features that were computed elsewhere, by a name that `networks` may use"
    )
    proposer: str = Field(
        default="selective_search_fast", description="the entry of config/proposers that finds boxes for regions"
    )
    parser: str = Field(default="corenlp_pcfg", description="the entry of config/parsers that parses the sentences")
    word_vectors: str | None = Field("word2vec", description="pre-trained vectors for methods that use them")
    seeds: Seeds = Field(default=[0], description="the seeds; each variant is trained once with each")
    boxes: Path | None = Field(
        None, description="your own true boxes: Parquet in the BOXES schema, or Flickr30k Entities (folder, zip, tar)"
    )

    resplit: Resplit | None = Field(None, description="splits drawn at random from the images of another data set")

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        known = READERS[self.reader].SOURCES | self.sources.keys()
        unknown = sorted(self.local.keys() - known)
        if unknown:
            raise ValueError(f"local: no source {unknown[0]!r}; known: {', '.join(sorted(known))}")
        return self

    @model_validator(mode="after")
    def _check_feature_formats(self) -> Self:
        for name, given in self.features.items():
            for view in given.views:
                if given.view_file(view).format == "scan" and self.reader != "scan":
                    raise ValueError(
                        f"features.{name}.{view}.format: only the reader scan has the format scan; write array, and "
                        "name the id file as ids"
                    )
        return self

    @model_validator(mode="after")
    def _check_sentence_source(self) -> Self:
        needed = cast(ReaderOptions, self.options).required_source
        if needed not in self.sources.keys() | self.local.keys():
            raise ValueError(
                f"local: the reader {self.reader} also needs the source {needed!r}; name your file or folder"
            )
        return self

    @property
    def has_pictures(self) -> bool:
        """True if there are pictures, and not only features of them."""
        return READERS[self.reader].HAS_PICTURES

    @property
    def has_boxes(self) -> bool:
        """True if there are true boxes, official ones or the user's."""
        return self.boxes is not None or READERS[self.reader].HAS_BOXES

    @property
    def has_masks(self) -> bool:
        """True if the masks of objects are known."""
        return READERS[self.reader].HAS_MASKS

    @property
    def phrases_have_boxes(self) -> bool:
        """True if noun phrases of the sentences have true boxes."""
        return self.boxes is not None or READERS[self.reader].PHRASES_HAVE_BOXES

    @property
    def stated_splits(self) -> Mapping[str, int] | None:
        """Split -> its number of images; None if the configuration does not state them."""
        drawn = {split: getattr(self.resplit, split) for split in get_args(Split)} if self.resplit else None
        stated = (drawn, *(getattr(self.options, key, None) for key in ("images", "splits", "sizes")))
        return next((one for one in stated if one and all(isinstance(size, int) for size in one.values())), None)

    @property
    def training_dataset(self) -> DatasetName | None:
        """The data set whose trained networks, models and vocabulary are used; None if they are its own."""
        return None

    @property
    def sentences_have_images(self) -> bool:
        """True if the sentences are about images of the data set."""
        return True


class BorrowingDataset(Dataset):
    """Photographs or sentences alone, with the networks, proposer, parser and vocabulary of another data set."""

    trained_on: DatasetName

    @property
    def training_dataset(self) -> DatasetName:
        """The data set on which the models were trained."""
        return self.trained_on

    @property
    def sentences_have_images(self) -> bool:
        """False, as sentences are parsed whichever images can be read."""
        return False
