"""Declares the parameters of config/methods/clip.yaml."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from snakeproof.strict import Strict


class Parameters(Strict):
    """The parameters of zero-shot CLIP, which is not trained."""

    ORIGINS: ClassVar = {"*": "chosen"}

    prompt: str = Field(default="{}", description="the text that is encoded; the sentence replaces {}")

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if self.prompt.count("{}") != 1:
            raise ValueError(f"prompt: {self.prompt!r} must hold {{}} once, which stands for the sentence")
        return self
