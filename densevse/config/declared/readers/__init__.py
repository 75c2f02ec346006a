"""The readers of official layouts of data sets, one module each.

To add a reader, write a module here whose `DECLARED` is the type of its options, and the implementation that it names:
densevse/datasets/readers.py describes its functions.
"""

from typing import Annotated, ClassVar, TypeVar, get_args

from pydantic import AfterValidator

from densevse.config.declared.door import Door
from densevse.config.strict import Strict
from densevse.config.values import Split


def _encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError(f"{name!r} is not an encoding that Python knows; utf-8 and latin-1 are usual") from None
    return name


EncodingName = Annotated[str, AfterValidator(_encoding)]
Of = TypeVar("Of")


def _every_split(values: dict[Split, Of]) -> dict[Split, Of]:
    missing = [split for split in get_args(Split) if split not in values]
    if missing:
        raise ValueError(f"each of {', '.join(get_args(Split))} is needed; missing: {', '.join(missing)}")
    return values


BySplit = Annotated[dict[Split, Of], AfterValidator(_every_split)]


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
    def needed(self) -> str:
        """The source, beside images, that the reader requires."""
        return "karpathy" if getattr(self, "karpathy", None) else self.SENTENCES


def check_one_of(options: Strict, *names: str) -> None:
    """Raises `ValueError` unless exactly one of some options is given."""
    if sum(getattr(options, name) is not None for name in names) != 1:
        raise ValueError(f"one of {' and '.join(names)} must be given, and not both (null unsets one)")


READERS: Door[type[ReaderOptions]] = Door("readers", "reader")
ReaderName = Annotated[str, AfterValidator(READERS.check), READERS.enum]
