"""What a person brings to a search: photographs without sentences, and sentences without photographs."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.datasets.archives import Archive
from densevse.datasets.images import ImageFiles
from densevse.datasets.readers import IMAGE_SUFFIXES, examine_all
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

SOURCE = "photographs"
SPLIT = "test"
"""Nothing is learned from what a person brings."""


def write_photographs(path: str, threads: int, images_path: str | Path) -> None:
    """Write the image table of the photographs in a folder (with those inside it), a zip or a tar, each decoded once.

    Photographs are known by their suffixes, and are called by their paths inside the folder. Raises `InputError` if
    there is none, or naming up to 20 of those that cannot be read.
    """
    with Archive.open(path) as archive:
        names = archive.names()
    files = [name for name in names if PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES]
    if not files:
        raise InputError(
            f"{path}: no photographs in it, only {len(names)} other files; their names must end in one of "
            f"{', '.join(sorted(IMAGE_SUFFIXES))}."
        )
    logger.info("%d photographs; %d other files are left alone", len(files), len(names) - len(files))
    images = pd.DataFrame({"image_id": files, "source": SOURCE, "file": files, "split": SPLIT, "family": files})
    images["captions"] = pd.Series(0, images.index, "int32")
    remedy = f"Take them out of {path}, or replace them."
    examined = examine_all(images, ImageFiles({SOURCE: path}), [], threads, remedy)
    schema.write(examined, IMAGES, images_path, lineage({SOURCE: Path(path).name}))


def write_sentences(sentences: Sequence[str], captions_path: str | Path) -> None:
    """Write sentences as a caption table, of no image; their ids are #0, #1 and so on."""
    rows = [
        {"caption_id": f"#{number}", "image_id": "", "position": number, "text": _on_one_line(text), "split": SPLIT}
        for number, text in enumerate(sentences)
    ]
    schema.write(rows, CAPTIONS, captions_path, lineage({"sentences": list(sentences)}))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
