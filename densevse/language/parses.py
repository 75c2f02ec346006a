"""The result of a parser for a sentence; all parsers return it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.artifacts.shards import remove_old_shards, shard_slice
from snakeproof import schema
from snakeproof.logs import logger

OK = "ok"


class Dependency(NamedTuple):
    """A typed dependency between two tokens, numbered from 0; the governor of the sentence's root is -1."""

    relation: str
    governor: int
    dependent: int


@dataclass(frozen=True)
class Parse:
    """A parsed sentence, or the reason why it could not be parsed (`status`; everything else is then empty)."""

    status: str = OK
    tokens: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)  # the lemma of each token
    tags: list[str] = field(default_factory=list)  # a Penn Treebank tag for each token
    tree: str = ""  # Penn bracket notation; brackets in words are -LRB- and -RRB-
    basic_dependencies: list[Dependency] = field(default_factory=list)
    enhanced_dependencies: list[Dependency] = field(default_factory=list)

    @classmethod
    def from_failure(cls, reason: str) -> Self:
        """A sentence that could not be parsed, with the reason."""
        return cls(status=reason)


class Parser(Protocol):
    """The interface of parsers."""

    def parse(self, texts: list[str]) -> list[Parse]:
        """Parses each text as one sentence; results are in the order of the texts."""
        ...


def write_parses(
    parser: Parser, images_path: str | None, captions_path: str, shard: str, path: str, **found: Any
) -> None:
    """Parses the captions of a shard's readable images, each text once, and writes them to `path` as PARSES.

    Captions without images, as in searches, are all parsed. `found` is what only the job knows of the parser.
    """
    captions = schema.read(captions_path, CAPTIONS, ["caption_id", "image_id", "text"])
    if images_path is not None:
        images = schema.read(images_path, IMAGES, ["image_id", "status"])
        images = images[shard_slice(shard, len(images))]
        captions = captions[captions["image_id"].isin(images.loc[images["status"] == OK, "image_id"])]
    texts = list(dict.fromkeys(captions["text"]))
    logger.info("%d captions, %d of them different", len(captions), len(texts))
    parses = dict(zip(texts, parser.parse(texts), strict=True))
    rows = [
        {"caption_id": caption_id, "image_id": image_id, "text": text, **_columns(parses[text])}
        for caption_id, image_id, text in captions.itertuples(index=False)
    ]
    failed = Counter(row["status"] for row in rows if row["status"] != OK)
    for reason, count in failed.most_common():
        logger.warning("%d captions not parsed: %s", count, reason)
    schema.write(rows, PARSES, path, **found)
    remove_old_shards(path)


def _columns(parse: Parse) -> dict[str, Any]:
    """The columns of PARSES that a parse fills."""
    values = {name: getattr(parse, name) for name in ("status", "tokens", "lemmas", "tags", "tree")}
    basic = [link._asdict() for link in parse.basic_dependencies]
    enhanced = [link._asdict() for link in parse.enhanced_dependencies]
    return {**values, "basic_dependencies": basic, "enhanced_dependencies": enhanced}
