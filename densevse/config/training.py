"""How anything is trained: what holds throughout, and the phases one after the other. The same loop serves all."""

from typing import Any, Literal

from pydantic import Field

from densevse.config.strict import Strict


class TrainingConfig(Strict):
    """What holds in all phases of a training."""

    RENAMED = {"clip": "grad_clip", "average": "ema_decay", "half_precision": "precision"}

    optimizer: Literal["adam", "adamw", "sgd"] = Field(
        default="adam", description="changes the weights by the gradients"
    )
    momentum: float = Field(default=0.0, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="of the optimizer")
    batch_size: int = Field(gt=0, description="examples in a step")
    grad_clip: float | None = Field(default=None, gt=0, description="largest norm of the gradient")
    patience: int | None = Field(
        default=None,
        gt=0,
        description="end a phase after so many of its epochs in which the selecting measure on val did not become "
        "better; the next phase goes on from its last weights",
    )
    training_images: int | None = Field(
        default=None, gt=0, description="train on so many images of train, spread over it; by default on all"
    )
    validation_images: int | None = Field(
        default=None, gt=0, description="validate on so many images of val, spread over it, where all would take long"
    )
    ema_decay: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="what the moving average of the weights keeps of itself at each step, if one is validated and kept "
        "instead of the weights: 0.99 reaches back over about 100 steps",
    )
    checkpoint_steps: int = Field(default=200, gt=0, description="steps between checkpoints")
    precision: Literal["float32", "tf32", "bf16"] = Field(
        default="float32",
        description="of products on a GPU: tf32 rounds what float32 products are made of, and bf16 computes most of a "
        "model in half precision (autocast), but no loss; a CPU computes in float32",
    )


class Phase(Strict):
    """Some epochs of a training, and what is so in them."""

    epochs: int = Field(gt=0, description="passes over the training examples")
    learning_rate: float = Field(ge=0, description="of the optimizer, at the phase's beginning")
    final_learning_rate: float | None = Field(
        default=None,
        ge=0,
        description="the learning rate goes there from learning_rate along half a cosine; none: it stays",
    )
    parameters: dict[str, Any] = Field(
        default={}, description="parameters of what is trained that differ in this phase"
    )
    frozen: list[str] = Field(
        default=[], description="modules of what is trained, by their names, whose weights do not change in this phase"
    )


class NamedPhase(Phase):
    """A phase in the order in which a round goes through them."""

    name: str


class Recipe(Strict):
    """The settings that every job has which trains something.

    A phase may change parameters of what is trained. Weights are kept of those last epochs alone in which the
    parameters are what they are at the end: the best epoch of a warm-up would be another method's.
    """

    training: TrainingConfig
    phases: list[NamedPhase] = Field(description="one after the other")
    seed: int = Field(description="decides the first weights and, with the round, the order of examples")
    round: int = Field(default=0, ge=0, description="of a method that is trained several times; others have round 0")
    threads: int = Field(default=1, gt=0)
    code: str = Field(default="", description="digest of the code that the job runs")


class TrainingJob(Recipe):
    """All that decides how a generator, or one round of a method, is trained, besides its input files."""

    method: str = Field(description="its file in densevse/methods: the name without .py; generators.<model> of one")
    parameters: dict[str, Any]
    sentences: list[str] = Field(description="the structures of sentences that it reads")
