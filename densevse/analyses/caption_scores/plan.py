"""The plan of a table of generated sentences, passed from the DAG to the table's job."""

from pydantic import Field

from densevse.config.strict import Strict


class WriterPlan(Strict):
    """A writer of sentences: a generator, the nearest training image, or a person."""

    title: str
    seeds: list[int]


class CaptionTablePlan(Strict):
    """A table of generated sentences about the images of a split."""

    title: str
    dataset: str
    split: str
    reference: str = Field(description="the writer that the others are compared with")
    metrics: list[str] = Field(description="which are asked for; some need Java")
    writers: dict[str, WriterPlan]
