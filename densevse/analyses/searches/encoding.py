"""Encodes the images that searches ask or search: those of a data set, or a person's photographs."""

from collections.abc import Mapping

from densevse.artifacts.lineage import lineage
from densevse.data.files import Files
from densevse.inference.encodings import write_encodings
from densevse.models.files import open_alone
from densevse.runtime.numerics import set_up


def encode_images(
    model: str, output: str, threads: int, wildcards: Mapping[str, str], **files: str | list[str]
) -> None:
    """The job that encodes the images of a split by a trained `model`, and writes an ENCODINGS artifact.

    `files` are the model's inputs about the images, which it may not have been trained on. Raises `InputError` if they
    do not fit the model.
    """
    named, split = Files(files), wildcards["split"]
    inputs, method = open_alone(named, model, set_up(threads))
    parents = {"model": model, "images": named.one("image_table")}
    write_encodings(method, inputs, split, output, lineage({"split": split}, parents))
