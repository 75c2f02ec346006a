"""A table with one row for each pair of image and sentence, or for each image with all its sentences."""

from typing import Literal, Self

from pydantic import Field, model_validator

from densevse.config.declared.readers import BySplit, EncodingName, ReaderOptions, check_one_of
from densevse.config.values import Split


class PairTable(ReaderOptions):
    """A table with one row for each pair of image and sentence, or for each image with all its sentences."""

    IMPLEMENTATION = "densevse.datasets.pairs"
    SOURCES = frozenset({"images", "pairs"})
    SENTENCES = "pairs"

    format: Literal["csv", "json_lines", "parquet"] = Field(description="format of the table's file")
    file: str | None = Field(None, min_length=1, description="the table's file name; with * there may be several")
    files: BySplit[str] | None = Field(None, description="in its place: split -> its file name, which may hold *")
    split: str | None = Field(None, min_length=1, description="the column of the split, with `file`")
    splits: dict[str, Split | Literal["restval"]] | None = Field(
        None, description="value of that column -> split; by default the splits' own names"
    )
    image: str = Field("image", min_length=1, description="the column of the file's name, or of the file's bytes")
    image_id: str | None = Field(None, min_length=1, description="the column of the id; by default the file's name")
    sentence: str = Field("sentence", min_length=1, description="the column of the sentences")
    sentences_as: Literal["text", "list", "json"] = Field(
        "text", description="the form of that column: one sentence, a list, or a list written as JSON"
    )
    encoding: EncodingName = Field(default="utf-8", description="encoding of csv and json_lines")

    @model_validator(mode="after")
    def _one_division(self) -> Self:
        check_one_of(self, "file", "files")
        if (self.file is None) != (self.split is None):
            raise ValueError("split is the column of the split in one `file`; `files` are by split already")
        if self.splits and not self.split:
            raise ValueError("splits translates the values of the column `split`, which is not given")
        return self


DECLARED = PairTable
