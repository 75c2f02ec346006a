"""The plan of a picture of trainings, passed from the DAG to the picture's job."""

from pydantic import Field

from densevse.config.strict import Strict


class CurvePlan(Strict):
    """The trainings of a variant, one for each seed, through all rounds."""

    seeds: list[int]
    rounds: list[str] = Field(description="the variant that each round is of: another one where variants share round 0")


class CurvesPlan(Strict):
    """A picture of the trainings of a data set."""

    title: str
    dataset: str
    variants: dict[str, CurvePlan]
