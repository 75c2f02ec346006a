"""The readers of official layouts of data sets: the type of each one's options, with the facts that the plan needs.

densevse/extensions/readers and snakeproof/plugins.py say how to add a reader of your own.
"""

from typing import Annotated, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import AfterValidator, Field, model_validator

from densevse.config import groups
from densevse.config.registries import Registry
from densevse.config.values import Count, Seed, Split
from snakeproof.strict import Strict


def _check_encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError(f"{name!r} is not an encoding that Python knows; utf-8 and latin-1 are usual") from None
    return name


EncodingName = Annotated[str, AfterValidator(_check_encoding)]
Of = TypeVar("Of")


def _check_splits(values: dict[Split, Of]) -> dict[Split, Of]:
    missing = [split for split in get_args(Split) if split not in values]
    if missing:
        raise ValueError(f"each of {', '.join(get_args(Split))} is needed; missing: {', '.join(missing)}")
    return values


BySplit = Annotated[dict[Split, Of], AfterValidator(_check_splits)]


class ReaderOptions(Strict):
    """The options of a reader of one official layout, and the facts that the plan needs."""

    SOURCES: ClassVar[frozenset[str]] = frozenset()
    """The names of its sources, whether config/ lists them or not."""
    HAS_PICTURES: ClassVar[bool] = True
    """True if there are pictures, and not only features of them."""
    HAS_BOXES: ClassVar[bool] = False
    """True if the official files hold true boxes."""
    HAS_MASKS: ClassVar[bool] = False
    """True if the objects of the official files have masks."""
    PHRASES_HAVE_BOXES: ClassVar[bool] = False
    """True if the true boxes belong to noun phrases of the sentences."""
    IMPLEMENTATION: ClassVar[str]
    """The module that reads the layout; only jobs that read such a data set import it."""
    SENTENCES: ClassVar[str]
    """The source of the sentences, if Karpathy's file does not give them."""

    @property
    def required_source(self) -> str:
        """The source, beside images, that the reader requires."""
        return "karpathy" if getattr(self, "karpathy", None) else self.SENTENCES


def check_exactly_one(options: Strict, *names: str) -> None:
    """Raises `ValueError` unless exactly one of some options is given."""
    if sum(getattr(options, name) is not None for name in names) != 1:
        raise ValueError(f"one of {' and '.join(names)} must be given, and not both (null unsets one)")


def check_is_read(options: Strict, name: str, reads: bool, where: str) -> None:
    """Raises `ValueError` for an option with another value than its default, unless it is read."""
    if not reads and getattr(options, name) != type(options).model_fields[name].default:
        raise ValueError(f"{name}: only {where} reads it; remove the key")


class Coco(ReaderOptions):
    """MS-COCO's annotations."""

    IMPLEMENTATION = "densevse.datasets.coco"
    SOURCES = frozenset({"images", "train2014", "val2014", "annotations", "karpathy"})
    SENTENCES = "annotations"
    HAS_BOXES = True
    HAS_MASKS = True

    karpathy: str | None = Field(None, description="the name of Karpathy's file: splits, order and sentences")
    splits: BySplit[Count] | None = Field(None, description="in its place: split -> number of images, drawn at random")
    seed: Seed = Field(0, description="seed of the random draw")

    @model_validator(mode="after")
    def _check_division(self) -> Self:
        check_exactly_one(self, "splits", "karpathy")
        check_is_read(self, "seed", self.splits is not None, "a draw by `splits`")
        return self


class Flickr(ReaderOptions):
    """A token file of captions, and lists of images for each split or Karpathy's file."""

    IMPLEMENTATION = "densevse.datasets.flickr"
    SOURCES = frozenset({"images", "text", "karpathy"})
    SENTENCES = "text"

    captions: str = Field(min_length=1, description="the token file's name")
    splits: BySplit[str] | None = Field(None, description="split -> the name of its list of images")
    karpathy: str | None = Field(None, description="the name of Karpathy's file, which then gives the splits")
    encoding: EncodingName = Field("utf-8", description="encoding of the text files")

    @model_validator(mode="after")
    def _check_division(self) -> Self:
        check_exactly_one(self, "splits", "karpathy")
        return self


class Karpathy(ReaderOptions):
    """Karpathy's caption file alone."""

    IMPLEMENTATION = "densevse.datasets.karpathy"
    SOURCES = frozenset({"images", "karpathy"})
    SENTENCES = "karpathy"

    karpathy: str = Field(min_length=1, description="the name of Karpathy's file")


class PairTable(ReaderOptions):
    """A table with one row for each pair of image and sentence, or for each image with all its sentences."""

    IMPLEMENTATION = "densevse.datasets.pairs"
    SOURCES = frozenset({"images", "pairs"})
    SENTENCES = "pairs"

    format: Literal["csv", "json_lines", "parquet"] | None = Field(
        None, description="format of the table's file; by default that of its suffix"
    )
    file: str | None = Field(
        None, min_length=1, description="the table's file name, which may hold *; not needed for a single file"
    )
    files: BySplit[str] | None = Field(None, description="in its place: split -> its file name, which may hold *")
    split: str | None = Field(
        None, min_length=1, description="the column of the split, without `files`; or random: images are drawn"
    )
    sizes: BySplit[Count] | None = Field(
        None, description="with split: random, split -> number of images; by default 80, 10 and 10 percent"
    )
    seed: Seed = Field(0, description="seed of the random draw")
    splits: dict[str, Split | Literal["restval"]] | None = Field(
        None, description="value of that column -> split; by default the splits' own names"
    )
    image: str = Field("image", min_length=1, description="the column of the file's name, or of the file's bytes")
    image_id: str | None = Field(None, min_length=1, description="the column of the id; by default the file's name")
    sentence: str = Field("sentence", min_length=1, description="the column of the sentences")
    sentences_as: Literal["text", "list", "json"] = Field(
        "text", description="the form of that column: one sentence, a list, or a list written as JSON"
    )
    delimiter: str | None = Field(
        None, min_length=1, max_length=1, description="the sign between the cells of csv; by default it is found"
    )
    encoding: EncodingName = Field(default="utf-8", description="encoding of csv and json_lines")

    @property
    def is_drawn(self) -> bool:
        """True if the splits are drawn at random."""
        return self.split == "random"

    @model_validator(mode="after")
    def _check_division(self) -> Self:
        check_exactly_one(self, "split", "files")
        if self.file and self.files:
            raise ValueError("file is one table with a column `split`; `files` are by split already")
        if self.splits and (not self.split or self.is_drawn):
            raise ValueError("splits translates the values of the column `split`, which is not given")
        if self.sizes and not self.is_drawn:
            raise ValueError("sizes are those of split: random")
        check_is_read(self, "seed", self.is_drawn, "split: random")
        check_is_read(self, "delimiter", self.format in (None, "csv"), "the format csv")
        check_is_read(self, "encoding", self.format != "parquet", "a table of text")
        return self


class WebDataset(ReaderOptions):
    """Tars with <key>.jpg beside <key>.txt or <key>.json: the layout of img2dataset and CLIP_benchmark."""

    IMPLEMENTATION = "densevse.datasets.webdataset"
    SOURCES = frozenset({"shards"})
    SENTENCES = "shards"

    files: dict[Split, str] | None = Field(
        None, min_length=1, description="split -> the file names of its tars, such as test/*.tar"
    )
    splits: BySplit[Count] | None = Field(None, description="in its place: split -> number of images, drawn at random")
    seed: Seed = Field(0, description="seed of the random draw")
    pictures: str | None = Field(
        None, min_length=1, description="the suffix of the pictures, such as input.jpg; by default any that is known"
    )
    sentences: str = Field(
        "txt", min_length=1, description="the suffix of the files with sentences: one a line, or json"
    )
    field: str = Field("caption", min_length=1, description="in json, the key of the sentence or of the list of them")

    @model_validator(mode="after")
    def _check_division(self) -> Self:
        check_exactly_one(self, "splits", "files")
        check_is_read(self, "seed", self.splits is not None, "a draw by `splits`")
        check_is_read(self, "field", self.sentences == "json", "sentences: json")
        return self


class Pascal(ReaderOptions):
    """Pascal1K's page or text files."""

    IMPLEMENTATION = "densevse.datasets.pascal"
    SOURCES = frozenset({"images", "sentences"})
    SENTENCES = "sentences"

    splits: BySplit[Count] = Field(description="split -> number of images, drawn at random")
    seed: Seed = Field(0, description="seed of the random draw")
    encoding: EncodingName = Field("utf-8", description="encoding of the page or text files")


class Scan(ReaderOptions):
    """A folder <name>_precomp with {train,dev,test}_ims.npy, _caps.txt and _ids.txt."""

    IMPLEMENTATION = "densevse.datasets.scan"
    SOURCES = frozenset({"precomp"})
    SENTENCES = "precomp"
    HAS_PICTURES = False

    copies: Literal[1, 5] = Field(
        description="copies of each image in _ims.npy: one, or one for each of its five sentences"
    )
    test: Literal["test", "testall"] = Field("test", description="the files of the folder that are the split test")
    encoding: EncodingName = Field("utf-8", description="encoding of the text files")


class Scenes(ReaderOptions):
    """The generated data set."""

    IMPLEMENTATION = "densevse.scenes.reader"
    SOURCES = frozenset({"scenes"})
    SENTENCES = "scenes"
    HAS_BOXES = True
    PHRASES_HAVE_BOXES = True

    images: BySplit[Count] = Field(description="split -> number of pictures")
    seed: Seed = Field(0, description="seed of everything in them")
    size: int = Field(96, ge=32, description="side of a picture, pixels")


READERS: Registry[type[ReaderOptions]] = Registry(
    "reader",
    {
        "coco": Coco,
        "flickr": Flickr,
        "karpathy": Karpathy,
        "pairs": PairTable,
        "pascal": Pascal,
        "scan": Scan,
        "scenes": Scenes,
        "webdataset": WebDataset,
    },
)
READERS.add("densevse.extensions.readers")
READERS.add_plugins(groups.READERS)
ReaderName = Annotated[str, AfterValidator(READERS.check), READERS.enum]
