"""The plan of a table of generated sentences: the contract between the DAG and the table's job."""

from pydantic import Field

from densevse.config.strict import Strict


class WriterPlan(Strict):
    """What wrote sentences: a generator, the nearest training image, or a person."""

    title: str
    seeds: list[int]


class CaptionTablePlan(Strict):
    """A table of what was written about the images of a split."""

    title: str
    dataset: str
    split: str
    reference: str = Field(description="the writer that the others are compared with")
    metrics: list[str] = Field(description="which are asked for; some need Java")
    writers: dict[str, WriterPlan]
