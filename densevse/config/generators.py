"""Generators: models that write sentences about images, with their training and decoding."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from densevse.config.methods import check_parameters_of_phases
from densevse.config.registry import Registry
from densevse.config.strict import FileName, Strict, VariantName, of_type
from densevse.config.training import NamedPhase, Phase, TrainingConfig
from densevse.config.views import StructureName, ViewName

GENERATOR_MODELS: Registry[type[Strict]] = Registry("generator")
"""The models in the code, by the names of their modules: the types of their parameters."""
GENERATOR_MODELS.add("densevse.methods.parameters.generators", "Parameters")

Ranking = Literal["translation", "likelihood", "joint_likelihood"]


class Decoding(Strict):
    """Settings of how sentences about an image are written and ranked."""

    tag_sequences: int = Field(
        50,
        ge=1,
        description="with structure: the number of tag sequences from training that are decoded for each image",
    )
    choice_of_tags: Literal["drawn", "most_frequent"] = Field(
        "drawn",
        description="the choice of tag sequences: drawn for each image in proportion to their frequency in training "
        "(as the poster does); or the most frequent ones, the same for all images (ours)",
    )
    beam: int = Field(5, ge=1, description="hypotheses of the beam search; without structure, all are kept")
    longest_sentence: int = Field(
        30, ge=1, description="the longest sentence in words; with structure, longer tag sequences are not drawn"
    )
    ranking: Ranking = Field(
        "translation",
        description="the score that ranks an image's sentences: the translation score s(x, v) with the n-gram model "
        "beside it (as the poster does), or the generator's own likelihood without a joint space; likelihood: log "
        "P(words | tags, v) per word; joint_likelihood: the same with log P(tags), their frequency in training, added "
        "to it (ours; the two are the same without structure)",
    )
    language_weight: float = Field(
        0.1,
        ge=0,
        description="the weight of the n-gram model's log probability per word, beside the translation score s(x, "
        "v); chosen",
    )
    ngram: int = Field(4, ge=1, description="the order of the n-gram model, in words")
    kept: int = Field(5, ge=1, description="the number of sentences of each image in the artifact, the best first")


class GeneratorDifferences(Strict):
    """The keys that a variant or a data set may change: any key of a generator, merged with the generator's."""

    RENAMED = {"space": "joint_embedding"}

    title: str | None = None
    joint_embedding: VariantName | None = None
    view: ViewName | None = None
    sentences: list[StructureName] | None = None
    parameters: dict[str, Any] | None = None
    decoding: dict[str, Any] | None = None
    training: dict[str, Any] | None = None
    phases: dict[str, dict[str, Any]] | None = None


class GeneratorVariant(GeneratorDifferences):
    """The changes of a variant, and further changes on data sets."""

    datasets: dict[str, GeneratorDifferences] = Field(default={}, description="data set -> changes there")


class GeneratorConfig(Strict):
    """A model that writes sentences about images; its content is a joint space's vector, or a view of the image."""

    RENAMED = {"space": "joint_embedding"}

    title: str = Field(min_length=1, description="the name in tables")
    model: str = Field(description="the model's file in densevse/methods/generators, without .py")
    joint_embedding: VariantName | None = Field(
        None,
        description="the variant of config/methods whose joint space it works in (same data set and seed): trained on "
        "the sentences' vectors there, used with the images'",
    )
    view: ViewName | None = Field(None, description="the view of images that it reads in place of a joint space")
    sentences: list[StructureName] = Field(
        min_length=1, description="the structures that it reads of its training sentences"
    )
    parameters: Annotated[SerializeAsAny[Strict], of_type("model", GENERATOR_MODELS)] = Field(
        default={}, validate_default=True, description="parameters that differ from the defaults"
    )
    decoding: Decoding = Field(default={}, validate_default=True, description="how its sentences are decoded")
    training: TrainingConfig
    phases: dict[str, Phase] = Field(min_length=1, description="the phases by name, one after the other")

    @model_validator(mode="after")
    def _known_model(self) -> Self:
        if self.model not in GENERATOR_MODELS:
            raise ValueError(
                f"model: no {self.model!r} in densevse/methods/generators; known: {', '.join(GENERATOR_MODELS)}"
            )
        return self

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if (self.joint_embedding is None) == (self.view is None):
            raise ValueError(
                "joint_embedding: one of joint_embedding and view must be given, and not both (null unsets one)"
            )
        return self

    @model_validator(mode="after")
    def _parameters_of_phases_fit(self) -> Self:
        check_parameters_of_phases(self.parameters, self.phases)
        return self

    def named_phases(self) -> list[NamedPhase]:
        """The phases in order."""
        return [NamedPhase(name=name, **phase.model_dump()) for name, phase in self.phases.items()]


class GeneratorEntry(GeneratorConfig):
    """A file of config/generators: a generator with its variants."""

    datasets: dict[str, GeneratorDifferences] = Field(default={}, description="data set -> changes there")
    variants: dict[FileName, GeneratorVariant] = Field(default={}, description="variant -> its changes")
