"""Equal effort in the plan: the draws of each row, the choice among them, and the trainings with fresh seeds."""

from pathlib import Path
from typing import Any

import yaml

from densevse.analyses.effort.draws import apply_draw, budget
from densevse.analyses.effort.settings import Effort, EffortSettings
from densevse.config.methods import MethodConfig
from densevse.config.values import DatasetName, VariantName
from densevse.dag.fields import dump_entry
from densevse.dag.project import Project, name_pattern
from densevse.dag.tables import TableStage
from densevse.dag.training import TrainingStage
from densevse.runtime.git import git
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

CHOSEN = "chosen"
REGISTERED = Path(__file__).with_name("settings.yaml")


class EffortStage(TableStage):
    """The table of equal effort of a data set. No other target requests it, as its trainings take hours."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._training, self._entries = TrainingStage(project), project.config.analysis(EffortSettings)

    def datasets(self) -> str:
        """A pattern of the data sets with rows."""
        return name_pattern(name for name, entry in self._entries.items() if entry.rows)

    def effort(self, dataset: DatasetName) -> Effort:
        """The protocol of a data set."""
        return self._entries.dataset_entry(dataset)

    def draw_job(self, dataset: DatasetName, variant: VariantName, draw: str, seed: int) -> Job:
        """The training of a draw, as TrainingJob."""
        entry = self.drawn_settings(dataset, variant, int(draw.removeprefix("draw")))
        return self._training.entry_job(entry, dataset, variant, seed)

    def chosen_job(self, dataset: DatasetName, variant: VariantName, seed: int) -> Job:
        """The training of the chosen draw, given all draws."""
        jobs = [self.draw_job(dataset, variant, one["draw"], seed) for one in self.draws(dataset, variant)]
        return Job({"jobs": [one.settings["job"] for one in jobs]}, jobs[0].modules)

    def draws(self, dataset: DatasetName, variant: VariantName) -> list[Values]:
        """Every draw of a row, with the seed of draws: the data set's first one.

        Raises `InputError` for a variant that is no row.
        """
        rows = self.effort(dataset).rows
        if variant not in rows:
            raise InputError(f"effort.{dataset}.rows: there is no {variant}; add it, or ask for {', '.join(rows)}.")
        return [
            {"variant": variant, "draw": f"draw{number}", "seed": self.first_seed(dataset), "round": 0}
            for number in range(rows[variant].draws)
        ]

    def tuned_rows(self, dataset: DatasetName) -> list[Values]:
        """Each row of a data set."""
        return [{"variant": variant} for variant in self.effort(dataset).rows]

    def tried_retrievals(self, dataset: DatasetName) -> list[Values]:
        """The retrievals of all draws of all rows."""
        return self._add_protocol(
            dataset, [one for row in self.effort(dataset).rows for one in self.draws(dataset, row)]
        )

    def fresh_retrievals(self, dataset: DatasetName) -> list[Values]:
        """The retrievals with fresh seeds: of the chosen draws and, where the row has it, of draw 0."""
        entry = self.effort(dataset)
        return self._add_protocol(
            dataset,
            [
                {"variant": variant, "draw": draw, "seed": seed, "round": 0}
                for variant, row in entry.rows.items()
                for draw in ([CHOSEN, "draw0"] if row.default_again else [CHOSEN])
                for seed in entry.fresh_seeds
            ],
        )

    def table_job(self, dataset: DatasetName) -> Job:  # type: ignore[override]
        """The table: the protocol, and the settings and threads of each draw.

        Raises `InputError` for a parameter in the space that no row has.
        """
        entry = self.effort(dataset)
        self._check_space(dataset, entry)
        rows = {
            variant: {
                "title": row.title or self.variant(dataset, variant).title,
                "draws": [
                    printed_settings(self.drawn_settings(dataset, variant, number)) for number in range(row.draws)
                ],
                "default_again": row.default_again,
            }
            for variant, row in entry.rows.items()
        }
        protocol = {
            "title": self.title(dataset),
            "protocol": self.first_protocol(dataset),
            "sentences": self.dataset(dataset).sentences,
            "threads": self.threads(dataset),
            "rows": rows,
            "reference": entry.reference,
            "compared_at": entry.compared_at,
            "fresh_seeds": entry.fresh_seeds,
            "least_correlation": entry.least_correlation,
            "budget": self._budget(dataset),
            "registered": self._registered_commit(dataset),
            "extended": self.effort(dataset).extended,
        }
        return Job({"plan": protocol})

    def _check_space(self, dataset: DatasetName, entry: Effort) -> None:
        rows = {variant: self.variant(dataset, variant).parameters for variant in entry.rows}
        spaces = {
            "space": (entry.space, [*rows.values()]),
            **{f"rows.{variant}.space": (row.space, [rows[variant]]) for variant, row in entry.rows.items()},
        }
        for where, (space, methods) in spaces.items():
            for key in space:
                group, _, name = key.partition(".")
                if group == "parameters" and not any(hasattr(one, name) for one in methods):
                    raise InputError(f"effort.{dataset}.{where}.{key}: no row has it; correct or remove it.")

    def _add_protocol(self, dataset: DatasetName, trained: list[Values]) -> list[Values]:
        return [{**one, "protocol": self.first_protocol(dataset)} for one in trained]

    def _budget(self, dataset: DatasetName) -> int:
        budget_of = self.effort(dataset).budget_of
        assert budget_of is not None
        return budget(self.variant(dataset, budget_of))

    def drawn_settings(self, dataset: DatasetName, variant: VariantName, number: int) -> MethodConfig:
        """A row's settings in a draw. Raises `InputError` if the method refuses them, or is not trained."""
        entry, effort = self.variant(dataset, variant), self.effort(dataset)
        try:
            return apply_draw(entry, effort, variant, number, self._budget(dataset))
        except ValueError as error:
            raise InputError(f"effort.{dataset}.rows.{variant}, draw {number}: {error}") from None

    def _registered_commit(self, dataset: DatasetName) -> str:
        """The last commit of the file that registers the protocol; empty without git, and for a user's own protocol."""
        registered = EffortSettings.model_validate(yaml.safe_load(REGISTERED.read_text()) or {})
        if registered.root.get(dataset) != self._entries.root.get(dataset):
            return ""
        return git(REGISTERED.parent, "log", "-1", "--format=%h", "--", REGISTERED.name)


def printed_settings(entry: MethodConfig) -> dict[str, Any]:
    """The settings that a table prints of a draw."""
    training: Any = entry.training
    phases = entry.round_phases(0)
    shown = {name: value for name, value in dump_entry(entry.parameters).items() if name in _SHOWN}
    return {
        "learning_rate": phases[0].learning_rate,
        "epochs": sum(phase.epochs for phase in phases),
        "batch_size": training.batch_size,
        "ema_decay": training.ema_decay,
        **shown,
    }


_SHOWN = ("margin", "dropout", "mismatched")
