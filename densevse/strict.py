"""The base of everything that may stand in the configuration."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part of the configuration: unknown keys are errors, nothing is converted, values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
