"""Training settings: those of the whole training, and phases one after the other. The same loop serves all tasks."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from snakeproof.strict import Strict


class TrainingConfig(Strict):
    """The settings of all phases of a training."""

    RENAMED = {"clip": "grad_clip", "average": "ema_decay", "half_precision": "precision"}

    optimizer: Literal["adam", "adamw", "sgd"] = Field(default="adam", description="the optimizer")
    momentum: float = Field(default=0.0, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="of the optimizer")
    batch_size: int = Field(gt=0, le=10**6, description="examples in a step")
    siblings: int = Field(
        default=0,
        ge=0,
        description="other sentences of its image that join each sentence of a step, in turn; for a method that "
        "compares the sentences of an image",
    )
    grad_clip: float | None = Field(default=None, gt=0, description="the largest norm of the gradient")
    patience: int | None = Field(
        default=None,
        gt=0,
        description="end a phase after this number of epochs without improvement of the selecting measure on val; "
        "the next phase continues from its last weights",
    )
    training_images: int | None = Field(
        default=None, gt=0, description="train on so many images of train, spread over it; by default on all"
    )
    validation_images: int | None = Field(
        default=None, gt=0, description="validate on this number of images, spread over val, if all would take long"
    )
    ema_decay: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="decay of the moving average of the weights, if it is validated and kept in their place: 0.99 "
        "covers about 100 steps",
    )
    checkpoint_steps: int = Field(default=200, gt=0, description="steps between checkpoints")
    precision: Literal["float32", "tf32", "bf16"] = Field(
        default="float32",
        description="precision of products on a GPU: tf32 rounds the factors of float32 products; bf16 computes most "
        "of a model in half precision (autocast), but not the loss; a CPU has `cpu_precision`",
    )
    cpu_precision: Literal["float32", "bf16"] = Field(
        default="float32",
        description="the same on a CPU; bf16 is refused by one that does not compute it faster than float32, so that "
        "no machine decides numbers in silence",
    )

    @model_validator(mode="after")
    def _check_momentum(self) -> Self:
        """Refuses a momentum without an optimizer; a named one may be over that of a file, whose momentum stays."""
        if self.momentum and "optimizer" not in self.model_fields_set:
            raise ValueError("momentum: only optimizer: sgd has it, not adam; write that too, or remove the key")
        return self


class Phase(Strict):
    """Some epochs of a training, and their settings."""

    epochs: int = Field(gt=0, le=10**6, description="passes over the training examples")
    learning_rate: float = Field(ge=0, description="the learning rate at the phase's start")
    final_learning_rate: float | None = Field(
        default=None,
        ge=0,
        description="the learning rate at the phase's end, reached along half a cosine; none: it stays constant",
    )
    parameters: dict[str, Any] = Field(default={}, description="parameters that differ in this phase")
    frozen: list[str] = Field(default=[], description="modules, by name, whose weights do not change in this phase")

    @model_validator(mode="after")
    def _check_rate(self) -> Self:
        if not (self.learning_rate or self.final_learning_rate):
            raise ValueError("learning_rate: 0 trains nothing; write a rate above 0, or a final_learning_rate above it")
        return self


class NamedPhase(Phase):
    """A phase with its name, in the order of a round."""

    name: str


class Recipe(Strict):
    """The settings of every training job.

    A phase may change parameters. Only the last epochs, whose parameters equal the final ones, can be selected: the
    best epoch of a warm-up would belong to another method.
    """

    training: TrainingConfig
    phases: list[NamedPhase] = Field(description="one after the other; without any, nothing is trained")
    seed: int = Field(description="the seed of the first weights and, with the round, of the order of examples")
    round: int = Field(default=0, ge=0, description="the round of a method with several; others have round 0")
    threads: int = Field(default=1, gt=0)
    code: str = Field(default="", description="digest of the code that the job runs")


class TrainingJob(Recipe):
    """The settings that decide how a generator, or one round of a method, is trained."""

    method: str = Field(description="its file in densevse/methods: the name without .py; generators.<model> of one")
    parameters: dict[str, Any]
    sentences: list[str] = Field(description="the structures of sentences that it reads")
