"""Equal effort in the plan: the draws of each row, the choice among them, and the trainings with fresh seeds."""

from pathlib import Path
from typing import Any

import yaml

from densevse.analyses.effort.draws import apply_draw, budget
from densevse.analyses.effort.settings import Effort, EffortSettings
from densevse.config.methods import MethodConfig
from densevse.config.values import DatasetName, VariantName
from densevse.dag import tables, training
from densevse.dag.fields import dump_entry
from densevse.dag.project import Project, name_pattern
from densevse.runtime.git import git
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

CHOSEN = "chosen"
REGISTERED = Path(__file__).with_name("settings.yaml")


def datasets(project: Project) -> str:
    """A pattern of the data sets with rows."""
    return name_pattern(name for name, entry in project.config.analysis(EffortSettings).items() if entry.rows)


def _effort(project: Project, dataset: DatasetName) -> Effort:
    """The protocol of a data set."""
    return project.config.analysis(EffortSettings).dataset_entry(dataset)


def draw_job(project: Project, dataset: DatasetName, variant: VariantName, draw: str, seed: int) -> Job:
    """The training of a draw, as TrainingJob."""
    entry = drawn_settings(project, dataset, variant, int(draw.removeprefix("draw")))
    return training.entry_job(project, entry, dataset, variant, seed)


def chosen_job(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> Job:
    """The training of the chosen draw, given all draws."""
    jobs = [draw_job(project, dataset, variant, one["draw"], seed) for one in draws(project, dataset, variant)]
    return Job({"jobs": [one.settings["job"] for one in jobs]}, jobs[0].modules)


def draws(project: Project, dataset: DatasetName, variant: VariantName) -> list[Values]:
    """Every draw of a row, with the seed of draws: the data set's first one.

    Raises `InputError` for a variant that is no row.
    """
    rows = _effort(project, dataset).rows
    if variant not in rows:
        raise InputError(f"effort.{dataset}.rows: there is no {variant}; add it, or ask for {', '.join(rows)}.")
    return [
        {"variant": variant, "draw": f"draw{number}", "seed": project.first_seed(dataset), "round": 0}
        for number in range(rows[variant].draws)
    ]


def tuned_rows(project: Project, dataset: DatasetName) -> list[Values]:
    """Each row of a data set."""
    return [{"variant": variant} for variant in _effort(project, dataset).rows]


def tried_retrievals(project: Project, dataset: DatasetName) -> list[Values]:
    """The retrievals of all draws of all rows."""
    return _add_protocol(
        project, dataset, [one for row in _effort(project, dataset).rows for one in draws(project, dataset, row)]
    )


def fresh_retrievals(project: Project, dataset: DatasetName) -> list[Values]:
    """The retrievals with fresh seeds: of the chosen draws and, where the row has it, of draw 0."""
    entry = _effort(project, dataset)
    return _add_protocol(
        project,
        dataset,
        [
            {"variant": variant, "draw": draw, "seed": seed, "round": 0}
            for variant, row in entry.rows.items()
            for draw in ([CHOSEN, "draw0"] if row.default_again else [CHOSEN])
            for seed in entry.fresh_seeds
        ],
    )


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The table: the protocol, and the settings and threads of each draw.

    Raises `InputError` for a parameter in the space that no row has.
    """
    entry = _effort(project, dataset)
    _check_space(project, dataset, entry)
    rows = {
        variant: {
            "title": row.title or project.variant(dataset, variant).title,
            "draws": [
                printed_settings(drawn_settings(project, dataset, variant, number)) for number in range(row.draws)
            ],
            "default_again": row.default_again,
        }
        for variant, row in entry.rows.items()
    }
    protocol = {
        "title": project.datasets[dataset].title,
        "protocol": tables.first_protocol(project, dataset),
        "sentences": project.datasets[dataset].sentences,
        "threads": project.threads(dataset),
        "rows": rows,
        "reference": entry.reference,
        "compared_at": entry.compared_at,
        "fresh_seeds": entry.fresh_seeds,
        "least_correlation": entry.least_correlation,
        "budget": _budget(project, dataset),
        "registered": _registered_commit(project, dataset),
        "extended": _effort(project, dataset).extended,
    }
    return Job({"plan": protocol})


def _check_space(project: Project, dataset: DatasetName, entry: Effort) -> None:
    rows = {variant: project.variant(dataset, variant).parameters for variant in entry.rows}
    spaces = {
        "space": (entry.space, [*rows.values()]),
        **{f"rows.{variant}.space": (row.space, [rows[variant]]) for variant, row in entry.rows.items()},
    }
    for where, (space, methods) in spaces.items():
        for key in space:
            group, _, name = key.partition(".")
            if group == "parameters" and not any(hasattr(one, name) for one in methods):
                raise InputError(f"effort.{dataset}.{where}.{key}: no row has it; correct or remove it.")


def _add_protocol(project: Project, dataset: DatasetName, trained: list[Values]) -> list[Values]:
    return [{**one, "protocol": tables.first_protocol(project, dataset)} for one in trained]


def _budget(project: Project, dataset: DatasetName) -> int:
    budget_of = _effort(project, dataset).budget_of
    assert budget_of is not None
    return budget(project.variant(dataset, budget_of))


def drawn_settings(project: Project, dataset: DatasetName, variant: VariantName, number: int) -> MethodConfig:
    """A row's settings in a draw. Raises `InputError` if the method refuses them, or is not trained."""
    entry, effort = project.variant(dataset, variant), _effort(project, dataset)
    try:
        return apply_draw(entry, effort, variant, number, _budget(project, dataset))
    except ValueError as error:
        raise InputError(f"effort.{dataset}.rows.{variant}, draw {number}: {error}") from None


def _registered_commit(project: Project, dataset: DatasetName) -> str:
    """The last commit of the file that registers the protocol; empty without git, and for a user's own protocol."""
    registered = EffortSettings.model_validate(yaml.safe_load(REGISTERED.read_text()) or {})
    if registered.root.get(dataset) != project.config.analysis(EffortSettings).root.get(dataset):
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
