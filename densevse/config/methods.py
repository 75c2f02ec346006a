"""Methods: what they read, how they are trained, and how their variants differ."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, SerializeAsAny, Tag, ValidationError, model_validator

from densevse.config.declared.structures import STRUCTURES, StructureName
from densevse.config.declared.views import VIEWS, ViewName
from densevse.config.declared.yields import YIELDS, YieldName
from densevse.config.names import FileName
from densevse.config.options import of_found_type
from densevse.config.strict import Strict
from densevse.config.tables import Ensemble
from densevse.config.training import NamedPhase, Phase, TrainingConfig
from densevse.config.validation import wrong_keys

Dependencies = Literal["enhanced", "basic"]
CorrespondencesFrom = Literal["model", "true_boxes"]
PARAMETERS = Path(__file__).parents[1] / "methods/parameters"


def models_in(folder: Path) -> list[str]:
    """The names of the modules of parameters in a folder: each is that of a model."""
    return sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))


@cache
def known_models() -> list[str]:
    """The methods that the code has: those whose parameters have a type."""
    return models_in(PARAMETERS)


@cache
def type_of_parameters(name: str) -> type[Strict]:
    """The type in a module of parameters that is there."""
    found: type[Strict] = import_module(f"densevse.methods.parameters.{name}").Parameters
    return found


def parameters_of(model: str) -> type[Strict] | None:
    """The type of a method's parameters; nothing for a name that is none of the code's methods."""
    return type_of_parameters(model) if model in known_models() else None


def check_parameters_of_phases(parameters: Strict, phases: Mapping[str, Phase]) -> None:
    """Raise `ValueError` naming what of a phase's changes does not fit the parameters."""
    own = parameters.model_dump()
    for name, phase in phases.items():
        if not phase.parameters:
            continue
        try:
            type(parameters).model_validate({**own, **phase.parameters})
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(path)}: {message}" for path, message in wrong_keys(error))
            raise ValueError(f"phases.{name}.parameters.{wrong}") from None


class Differences(Strict):
    """What may differ on a data set: any key of a method may stand here, and is merged with the method's."""

    title: str | None = None
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
    starts_from: str | None = None
    round_0_of: str | None = None


class Variant(Differences):
    """What makes a variant, and what differs from that on data sets."""

    datasets: dict[str, Differences] = Field(default={}, description="data set -> what differs there")


def _kind_of(training: Any) -> str:
    return "[untrained]" if isinstance(training, str) else "[trained]"


Trained = Annotated[
    Annotated[TrainingConfig, Tag("[trained]")] | Annotated[Literal["none"], Tag("[untrained]")],
    Discriminator(_kind_of),
]
"""The training of a method, or `none`."""


class MethodConfig(Strict):
    """A paper's method: what it reads, its parameters (defaults: densevse/methods/parameters), and its training."""

    title: str = Field(min_length=1, description="as printed in a table")
    paper: str = Field(description="the paper's key in config/published")
    model: str = Field(description="the method's file in densevse/methods: its name without .py")
    views: list[ViewName] = Field(min_length=1, description="what it reads of images")
    sentences: list[StructureName] = Field(default=["words"], min_length=1, description="what it reads of sentences")
    dependencies: Dependencies = Field(
        "enhanced", description="which dependencies `triplets` are: enhanced ones have words in them (obl:on, conj:and)"
    )
    yields: list[YieldName] = Field(
        default=[],
        description="what a trained model gives besides scores: "
        + "; ".join(f"{name}, {declared.description}" for name, declared in YIELDS.items()),
    )
    generator: str | None = Field(
        None,
        description="of config/generators, with the same seed: it wrote the view `generated_captions`",
    )
    word_vectors: bool = Field(False, description="whether it is given the data set's pre-trained vectors")
    networks: dict[ViewName, str] = Field(default={}, description="networks instead of the data set's")
    parameters: Annotated[SerializeAsAny[Strict], of_found_type("model", parameters_of)] = Field(
        default={}, validate_default=True, description="what differs from the defaults"
    )
    training: Trained = Field(
        description="none: it is the networks of its views as they are, of which one encodes sentences (text)"
    )
    phases: dict[str, Phase] = Field(default={}, description="by name; `rounds` says which follow one another")
    rounds: list[Annotated[list[str], Field(min_length=1)]] | None = Field(
        None,
        min_length=1,
        description="the phases of each round, between which correspondences are learned; by default one of all",
    )
    correspondences: CorrespondencesFrom = Field(
        "model",
        description="which region a phrase means in the rounds after the first: the best one by the model of the round "
        "before; or, by the data set's true boxes, the region that overlaps its box by half or more, where there is "
        "one (ours: what rounds would be worth if the model erred nowhere)",
    )
    starts_from: str | None = Field(
        None, description="a variant from whose trained model (same data set and seed) training starts"
    )
    round_0_of: str | None = Field(
        None,
        description="a variant that differs in later rounds only: its round 0 (same data set and seed) is this one's "
        "too, and is not trained again",
    )

    @model_validator(mode="after")
    def _known_model(self) -> Self:
        if self.model not in known_models():
            raise ValueError(f"model: no {self.model!r} in densevse/methods; known: {', '.join(known_models())}")
        return self

    @model_validator(mode="after")
    def _sentences_are_written_by_someone(self) -> Self:
        generated = [name for name, view in VIEWS.items() if view.made_by == "generator"]
        if bool({*generated} & {*self.views}) != (self.generator is not None):
            raise ValueError(f"generator: it is needed for the view {' or '.join(generated)}, and for no other")
        return self

    @property
    def untrained(self) -> bool:
        """Whether nothing of it is trained."""
        return self.training == "none"

    @model_validator(mode="after")
    def _trained_or_not(self) -> Self:
        by_network = [name for name in self.sentences if STRUCTURES[name].by_network]
        if not self.untrained:
            if not self.phases:
                raise ValueError("phases: at least one is needed, unless nothing is trained (training: none)")
            if by_network:
                raise ValueError(
                    f"sentences: {by_network[0]} is encoded by a network of which nothing is trained here; write "
                    "training: none"
                )
            return self
        for key in ("phases", "rounds", "starts_from", "round_0_of", "generator", "word_vectors"):
            if getattr(self, key):
                raise ValueError(f"{key}: nothing is trained (training: none); take it out")
        if self.sentences != by_network:
            raise ValueError("sentences: without training (training: none) sentences are read as [text] alone")
        return self

    @model_validator(mode="after")
    def _phases_exist(self) -> Self:
        for number, names in enumerate(self.rounds or []):
            for name in names:
                if name not in self.phases:
                    raise ValueError(f"rounds.{number}: no phase {name!r}; known: {', '.join(self.phases)}")
        return self

    @model_validator(mode="after")
    def _parameters_of_phases_fit(self) -> Self:
        check_parameters_of_phases(self.parameters, self.phases)
        return self

    @model_validator(mode="after")
    def _parameters_hold_in_some_phase(self) -> Self:
        """A training that lies wholly inside a warm-up would have the figures of another method."""
        used = [self.phases[name] for names in self.rounds or [list(self.phases)] for name in names]
        if not used:
            return self
        for parameter in sorted(set.intersection(*(set(phase.parameters) for phase in used))):
            value = getattr(self.parameters, parameter)
            if all(phase.parameters[parameter] != value for phase in used):
                raise ValueError(
                    f"parameters.{parameter}: {value!r} holds in no phase, as each changes it; let one phase keep it, "
                    "or give the variant the value that it is trained with"
                )
        return self

    @property
    def last_round(self) -> int:
        """T: how often correspondences are learned and training goes on."""
        return len(self.rounds) - 1 if self.rounds else 0

    def differences_in_round_0(self, other: Self) -> list[str]:
        """What round 0 depends on and the other has otherwise; none where one round 0 can serve both."""
        mine, theirs = self._what_round_0_depends_on(), other._what_round_0_depends_on()
        return [name for name in mine if mine[name] != theirs.get(name)]

    def _what_round_0_depends_on(self) -> dict[str, Any]:
        """Settings by their path, with the parameters but for those that count in later rounds only."""
        later: frozenset[str] = getattr(type(self.parameters), "LATER", frozenset())
        apart = {"title", "yields", "rounds", "correspondences", "round_0_of", "parameters"}
        settings = {name: value for name, value in self if name not in apart}
        parameters = {f"parameters.{name}": value for name, value in self.parameters if name not in later}
        return {**settings, **parameters, "phases": self.phases_of(0)}

    def phases_of(self, number: int) -> list[NamedPhase]:
        """The phases of a round, in order. Raises `IndexError` if there is no such round."""
        names = self.rounds[number] if self.rounds else list(self.phases)
        return [NamedPhase(name=name, **self.phases[name].model_dump()) for name in names]


class MethodEntry(MethodConfig):
    """A file of config/methods: a method with its variants (the paper's ablations)."""

    datasets: dict[str, Differences] = Field(default={}, description="data set -> what differs there")
    variants: dict[FileName, Variant] = Field(default={}, description="variant -> what differs")
    ensembles: dict[FileName, Ensemble] = Field(default={}, description="ensemble -> variants whose scores are added")
