"""Methods and generators, which write sentences about images: their inputs, training and variants."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, SerializeAsAny, Tag, ValidationError, model_validator

from densevse.config import groups
from densevse.config.registries import STRUCTURES, VIEWS, YIELDS, Registry, StructureName, ViewName, YieldName
from densevse.config.tables import Ensemble
from densevse.config.training import NamedPhase, Phase, TrainingConfig
from densevse.config.values import VariantKey, VariantName
from snakeproof.strict import FileName, Strict, Title, type_validator, wrong_keys

Dependencies = Literal["enhanced", "basic", "collapsed", "original"]
CorrespondencesFrom = Literal["model", "true_boxes"]
MODELS: Registry[type[Strict]] = Registry("method")
"""The methods in the code, by the names of their modules: the types of their parameters."""
MODELS.add("densevse.methods.parameters", "Parameters")
MODELS.add_plugins(groups.METHODS)


def module_of_method(model: str) -> str:
    """The module with the implementation of a method, or of a generator `generators.<model>`.

    It is the method's in densevse/methods, unless the type of its parameters names another as `IMPLEMENTATION`.
    """
    return getattr(MODELS.get(model), "IMPLEMENTATION", f"densevse.methods.{model}")


def check_parameters_of_phases(parameters: Strict, phases: Mapping[str, Phase]) -> None:
    """Raises `ValueError` that names a change of a phase which does not match the parameters, or does nothing.

    The type of the parameters names as OF_LOSS those that its loss reads; one that names none, as a plug-in's may,
    lets a phase change all.
    """
    own, of_loss = parameters.model_dump(), getattr(type(parameters), "OF_LOSS", None)
    for name, phase in phases.items():
        if not phase.parameters:
            continue
        try:
            type(parameters).model_validate({**own, **phase.parameters})
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(path)}: {message}" for path, message in wrong_keys(error))
            raise ValueError(f"phases.{name}.parameters.{wrong}") from None
        for key in phase.parameters.keys() - (phase.parameters if of_loss is None else of_loss):
            known = ", ".join(sorted(of_loss or ())) or "none"
            raise ValueError(
                f"phases.{name}.parameters.{key}: the loss does not read it, so a phase cannot change it; set it in "
                f"`parameters`. A phase changes: {known}"
            )


class Differences(Strict):
    """The keys that a data set may change: any key of a method, merged with the method's."""

    title: Title | None = None
    views: list[ViewName] | None = None
    yields: list[YieldName] | None = None
    sentences: list[StructureName] | None = None
    dependencies: Dependencies | None = None
    networks: dict[ViewName, str] | None = None
    generator: str | None = None
    word_vectors: bool | None = None
    parameters: dict[str, Any] | None = None
    training: dict[str, Any] | None = None
    phases: dict[str, dict[str, Any]] | None = None
    rounds: list[list[str]] | None = None
    correspondences: CorrespondencesFrom | None = None
    starts_from: VariantName | None = None
    round_0_of: VariantName | None = None


class Variant(Differences):
    """The changes of a variant, and further changes on data sets."""

    datasets: dict[str, Differences] = Field(default={}, description="data set -> changes there")


def _training_tag(training: Any) -> str:
    return "[untrained]" if isinstance(training, str) else "[trained]"


Trained = Annotated[
    Annotated[TrainingConfig, Tag("[trained]")] | Annotated[Literal["none"], Tag("[untrained]")],
    Discriminator(_training_tag),
]
"""The training of a method, or `none`."""


class MethodConfig(Strict):
    """A paper's method: its inputs, its parameters (defaults: densevse/methods/parameters), and its training."""

    title: Title = Field(description="the name in tables")
    paper: str | None = Field(None, description="the paper's key in config/published; none for a method of your own")
    model: str = Field(description="the method's file in densevse/methods, without .py, or its plug-in")
    views: list[ViewName] = Field(min_length=1, description="the views of images that it reads")
    sentences: list[StructureName] = Field(
        default=["words"], min_length=1, description="the structures of sentences that it reads"
    )
    dependencies: Dependencies = Field(
        "enhanced",
        description="the kind of dependencies in `triplets`: enhanced ones contain words (obl:on, conj:and); collapsed "
        "ones are these without the relations `case` and `cc`, whose words they contain (ours); original ones are "
        "Stanford's collapsed ones of 2014 (prep_on, conj_and), which only CoreNLP makes",
    )
    yields: list[YieldName] = Field(
        default=[],
        description="further results of a trained model besides scores:  "
        + "; ".join(f"{name}, {description}" for name, description in YIELDS.items()),
    )
    generator: str | None = Field(
        None,
        description="the entry of config/generators (same seed) that wrote the view `generated_captions`",
    )
    word_vectors: bool = Field(False, description="use the data set's pre-trained vectors")
    networks: dict[ViewName, str] = Field(default={}, description="networks in place of the data set's")
    parameters: Annotated[SerializeAsAny[Strict], type_validator("model", MODELS)] = Field(
        default={}, validate_default=True, description="parameters that differ from the defaults"
    )
    training: Trained = Field(
        description="none: it uses the networks of its views without training; one of them encodes sentences (text)"
    )
    phases: dict[str, Phase] = Field(default={}, description="the phases by name; `rounds` defines their order")
    rounds: list[list[str]] | None = Field(
        None,
        min_length=1,
        description="the phases of each round, between which correspondences are learned; by default one of all. A "
        "round without phases trains nothing and keeps the weights that it starts from",
    )
    correspondences: CorrespondencesFrom = Field(
        "model",
        description="how regions are assigned to phrases after the first round: model, the best one by the model of "
        "the round before; or by the data set's true boxes, the region that overlaps the phrase's box by half or "
        "more, if there is one (ours: the value of rounds without errors of the model)",
    )
    starts_from: VariantName | None = Field(
        None, description="a variant from whose trained model (same data set and seed) training starts"
    )
    round_0_of: VariantName | None = Field(
        None,
        description="a variant that differs in later rounds only: its round 0 (same data set and seed) is this one's "
        "too, and is not trained again",
    )

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if self.model not in MODELS:
            raise ValueError(
                f"model: no {self.model!r} in densevse/methods or installed packages; known: {', '.join(MODELS)}"
            )
        return self

    @model_validator(mode="after")
    def _check_generator(self) -> Self:
        generated = [name for name, view in VIEWS.items() if view.made_by == "generator"]
        if bool({*generated} & {*self.views}) != (self.generator is not None):
            raise ValueError(
                f"generator: it is required for the view {' or '.join(generated)}, and not allowed for others"
            )
        return self

    @property
    def is_untrained(self) -> bool:
        """True if nothing is trained."""
        return self.training == "none"

    @model_validator(mode="after")
    def _check_training(self) -> Self:
        by_network = [name for name in self.sentences if STRUCTURES[name].by_network]
        if not self.is_untrained:
            if not self.phases and not self.rounds:
                raise ValueError("phases: at least one is needed, unless nothing is trained (training: none)")
            if by_network:
                raise ValueError(
                    f"sentences: {by_network[0]} is encoded by a network that is not trained here; write training: none"
                )
            if self.training != "none" and self.training.batch_size < 2:
                raise ValueError("training.batch_size: a loss that contrasts pairs needs 2 or more in a step, not 1")
            return self
        for key in ("phases", "rounds", "starts_from", "round_0_of", "generator", "word_vectors"):
            if getattr(self, key):
                raise ValueError(f"{key}: nothing is trained (training: none); remove the key")
        if self.sentences != by_network:
            raise ValueError("sentences: without training (training: none) sentences must be [text]")
        return self

    @model_validator(mode="after")
    def _check_rounds(self) -> Self:
        for number, names in enumerate(self.rounds or []):
            for name in names:
                if name not in self.phases:
                    raise ValueError(f"rounds.{number}: no phase {name!r}; known: {', '.join(self.phases)}")
        fitted = getattr(self.parameters, "FITTED", False)
        if self.rounds and not any(self.rounds) and self.starts_from is None and not fitted:
            raise ValueError("rounds: no round has a phase, so the weights stay random; name phases, or a starts_from")
        return self

    @model_validator(mode="after")
    def _check_phase_parameters(self) -> Self:
        check_parameters_of_phases(self.parameters, self.phases)
        return self

    @model_validator(mode="after")
    def _check_final_parameters(self) -> Self:
        """Refuses a training that lies wholly inside a warm-up, as its results would be another method's."""
        used = [self.phases[name] for names in self.rounds or [list(self.phases)] for name in names]
        if not used:
            return self
        for parameter in sorted(set.intersection(*(set(phase.parameters) for phase in used))):
            value = getattr(self.parameters, parameter)
            if all(phase.parameters[parameter] != value for phase in used):
                raise ValueError(
                    f"parameters.{parameter}: {value!r} is used in no phase, as every phase changes it; let one phase "
                    "keep it, or set the value with which the variant is trained"
                )
        return self

    @property
    def last_round(self) -> int:
        """T, the number of times that correspondences are learned and training continues."""
        return len(self.rounds) - 1 if self.rounds else 0

    def differences_in_round_0(self, other: Self) -> list[str]:
        """The settings of round 0 that differ from another variant's; empty if both can share one round 0."""
        mine, theirs = self._round_0_settings(), other._round_0_settings()
        return [name for name in mine if mine[name] != theirs.get(name)]

    def _round_0_settings(self) -> dict[str, Any]:
        """Settings by their path, without parameters that matter only in later rounds."""
        later: frozenset[str] = getattr(type(self.parameters), "LATER", frozenset())
        apart = {"title", "yields", "rounds", "correspondences", "round_0_of", "parameters"}
        settings = {name: value for name, value in self if name not in apart}
        parameters = {f"parameters.{name}": value for name, value in self.parameters if name not in later}
        return {**settings, **parameters, "phases": self.round_phases(0)}

    def round_phases(self, number: int) -> list[NamedPhase]:
        """The phases of a round, in order. Raises `IndexError` if there is no such round."""
        names = self.rounds[number] if self.rounds else list(self.phases)
        return [NamedPhase(name=name, **self.phases[name].model_dump()) for name in names]


class MethodEntry(MethodConfig):
    """A file of config/methods: a method with its variants (the paper's ablations)."""

    datasets: dict[str, Differences] = Field(default={}, description="data set -> changes there")
    variants: dict[VariantKey, Variant] = Field(default={}, description="variant -> its changes")
    ensembles: dict[VariantKey, Ensemble] = Field(
        default={}, description="ensemble -> variants whose scores are added up"
    )


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

    title: Title | None = None
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

    title: Title = Field(description="the name in tables")
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
    parameters: Annotated[SerializeAsAny[Strict], type_validator("model", GENERATOR_MODELS)] = Field(
        default={}, validate_default=True, description="parameters that differ from the defaults"
    )
    decoding: Decoding = Field(default={}, validate_default=True, description="how its sentences are decoded")
    training: TrainingConfig
    phases: dict[str, Phase] = Field(min_length=1, description="the phases by name, one after the other")

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if self.model not in GENERATOR_MODELS:
            raise ValueError(
                f"model: no {self.model!r} in densevse/methods/generators; known: {', '.join(GENERATOR_MODELS)}"
            )
        return self

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if (self.joint_embedding is None) == (self.view is None):
            raise ValueError(
                "joint_embedding: one of joint_embedding and view must be given, and not both (null unsets one)"
            )
        return self

    @model_validator(mode="after")
    def _check_phase_parameters(self) -> Self:
        check_parameters_of_phases(self.parameters, self.phases)
        return self

    def named_phases(self) -> list[NamedPhase]:
        """The phases in order."""
        return [NamedPhase(name=name, **phase.model_dump()) for name, phase in self.phases.items()]


class GeneratorEntry(GeneratorConfig):
    """A file of config/generators: a generator with its variants."""

    datasets: dict[str, GeneratorDifferences] = Field(default={}, description="data set -> changes there")
    variants: dict[FileName, GeneratorVariant] = Field(default={}, description="variant -> its changes")
