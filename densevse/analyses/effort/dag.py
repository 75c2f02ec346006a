"""Equal effort in the plan: the draws of each row, the shortlist, the choice, and the trainings with test seeds.

A training is named by its variant and its draw: `draw3` has the settings of a draw, and `as_vsepp` those that val chose
for the row `vsepp`. So `as_<its own name>` is a row's chosen draw, and of the reference any other is a control.
"""

from pathlib import Path
from typing import Any

import yaml

from densevse.analyses.effort.draws import Budget, apply_draw, apply_settings
from densevse.analyses.effort.settings import Effort, EffortSettings, TuningRun
from densevse.config.methods import MethodConfig
from densevse.config.values import DatasetName, VariantName
from densevse.dag import tables, training
from densevse.dag.fields import dump_entry
from densevse.dag.project import Project, name_pattern
from densevse.runtime.project import git
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

CHOSEN = "as_"
REGISTERED = Path(__file__).with_name("settings.yaml")


def datasets(project: Project) -> str:
    """A pattern of the data sets with rows."""
    return name_pattern(name for name, entry in project.config.analysis(EffortSettings).items() if entry.rows)


def _effort(project: Project, dataset: DatasetName) -> Effort:
    """The protocol of a data set."""
    return project.config.analysis(EffortSettings).dataset_entry(dataset)


def _find_run(project: Project, dataset: DatasetName, seed: int) -> TuningRun:
    """The run that has a seed. Raises `InputError` if none has it."""
    try:
        return _effort(project, dataset).find_run(seed)
    except ValueError as error:
        raise InputError(f"effort.{dataset}.runs: {error}") from None


def draw_job(project: Project, dataset: DatasetName, variant: VariantName, draw: str, seed: int) -> Job:
    """The training of a draw, as TrainingJob."""
    entry = drawn_settings(project, dataset, variant, int(draw.removeprefix("draw")))
    return training.entry_job(project, entry, dataset, variant, seed)


def shortlist_job(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> Job:
    """The trainings of a shortlist with one seed, given all draws."""
    return _any_of(project, dataset, variant, variant, seed, within=_effort(project, dataset).shortlist_within)


def chosen_job(project: Project, dataset: DatasetName, variant: VariantName, draw: str, seed: int) -> Job:
    """The training of a variant as the chosen draw of a row, given all draws."""
    return _any_of(project, dataset, variant, VariantName(draw.removeprefix(CHOSEN)), seed)


def _any_of(
    project: Project, dataset: DatasetName, variant: VariantName, row: VariantName, seed: int, **more: Any
) -> Job:
    """A job that is given a training of each draw of a row, since only the files say which of them it needs."""
    settings = [row_settings(project, dataset, variant, row, number) for number in draw_numbers(project, dataset, row)]
    jobs = [training.entry_job(project, entry, dataset, variant, seed) for entry in settings]
    return Job({"jobs": [one.settings["job"] for one in jobs], **more}, jobs[0].modules)


def draws(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> list[Values]:
    """Every draw of a row in the run that has a seed. Raises `InputError` for a variant that is no row."""
    first = _find_run(project, dataset, seed).seed
    return [{"draw": f"draw{number}", "seed": first} for number in draw_numbers(project, dataset, variant)]


def choice_job(project: Project, dataset: DatasetName) -> Job:
    """The choice among draws."""
    return Job({"within": _effort(project, dataset).shortlist_within})


def shortlists(project: Project, dataset: DatasetName, seed: int) -> list[Values]:
    """The seeds that decide the shortlist of the run that has a seed."""
    return [{"seed": one} for one in _find_run(project, dataset, seed).val_seeds]


def choice(project: Project, dataset: DatasetName, draw: str, seed: int) -> Values:
    """The choice whose settings a training with a test seed has."""
    return {"variant": draw.removeprefix(CHOSEN), "seed": _find_run(project, dataset, seed).seed}


def choices(project: Project, dataset: DatasetName) -> list[Values]:
    """The choice of each row in each run."""
    entry = _effort(project, dataset)
    return [{"variant": variant, "seed": run.seed} for run in entry.runs for variant in entry.rows]


def tested_retrievals(project: Project, dataset: DatasetName) -> list[Values]:
    """The retrievals with test seeds, run by run: of each row's chosen draw and, if it has them, draw 0 and control."""
    entry, protocol = _effort(project, dataset), tables.first_protocol(project, dataset)
    return [
        {"variant": trained, "draw": draw, "seed": seed, "round": 0, "protocol": protocol}
        for run in entry.runs
        for variant, row in entry.rows.items()
        for trained, draw in (
            (variant, f"{CHOSEN}{variant}"),
            *[(variant, "draw0")] * row.default_again,
            *[(entry.reference, f"{CHOSEN}{variant}")] * row.control,
        )
        for seed in run.test_seeds
    ]


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The table: the protocol, and the settings of each draw.

    Raises `InputError` for a parameter in the space that a row lacks.
    """
    entry = _effort(project, dataset)
    _check_space(project, dataset, entry)
    rows = {
        variant: {
            "title": row.title or project.variant(dataset, variant).title,
            "draws": [
                printed_settings(drawn_settings(project, dataset, variant, number))
                for number in draw_numbers(project, dataset, variant)
            ],
            "default_again": row.default_again,
            "control": row.control,
        }
        for variant, row in entry.rows.items()
    }
    plan = {
        "title": project.datasets[dataset].title,
        "protocol": tables.first_protocol(project, dataset),
        "sentences": project.datasets[dataset].sentences,
        "rows": rows,
        "reference": entry.reference,
        "runs": [run.model_dump() for run in entry.runs],
        "shortlist_within": entry.shortlist_within,
        "compared_at": entry.compared_at,
        "registered": _registered_commit(project, dataset),
    }
    return Job({"plan": plan})


def _check_space(project: Project, dataset: DatasetName, entry: Effort) -> None:
    """Raises `InputError` for a parameter in the space that a row lacks: it would be tuned in fewer settings."""
    for variant, row in entry.rows.items():
        parameters = project.variant(dataset, variant).parameters
        for where, space in (("space", entry.space), (f"rows.{variant}.space", row.space)):
            for key in space:
                group, _, name = key.partition(".")
                if group == "parameters" and not hasattr(parameters, name):
                    raise InputError(
                        f"effort.{dataset}.{where}.{key}: {variant} has no {name}; correct it, or leave out the key or "
                        "the row, as all rows of a table have one space."
                    )


def draw_numbers(project: Project, dataset: DatasetName, variant: VariantName) -> range:
    """The draws of a row. Raises `InputError` for a variant that is no row."""
    rows = _effort(project, dataset).rows
    if variant not in rows:
        raise InputError(f"effort.{dataset}.rows: there is no {variant}; add it, or ask for {', '.join(rows)}.")
    return range(rows[variant].draws)


def row_settings(
    project: Project, dataset: DatasetName, variant: VariantName, row: VariantName, number: int
) -> MethodConfig:
    """A variant with the settings of a row's draw: the row itself, or a control. Raises `InputError` as `draws`."""
    drawn, effort = drawn_settings(project, dataset, row, number), _effort(project, dataset)
    keys = [*effort.space, *effort.rows[row].space]
    return drawn if variant == row else apply_settings(project.variant(dataset, variant), drawn, keys)


def drawn_settings(project: Project, dataset: DatasetName, variant: VariantName, number: int) -> MethodConfig:
    """A row's settings in a draw. Raises `InputError` if the method refuses them, or is not trained."""
    entry, effort = project.variant(dataset, variant), _effort(project, dataset)
    assert effort.budget_of is not None
    try:
        budget = Budget.from_entry(project.variant(dataset, effort.budget_of))
        return apply_draw(entry, effort, variant, number, budget)
    except ValueError as error:
        raise InputError(f"effort.{dataset}.rows.{variant}, draw {number}: {error}") from None


def _registered_commit(project: Project, dataset: DatasetName) -> str:
    """The commit since which the file of protocols has the one in use.

    It is empty without git, for a protocol that is not committed, and for a user's own.
    """
    used, found = project.config.analysis(EffortSettings).root.get(dataset), ""
    for commit in git(REGISTERED.parent, "log", "--format=%h", "--", REGISTERED.name).split():
        text = git(REGISTERED.parent, "show", f"{commit}:./{REGISTERED.name}")
        try:
            protocol = EffortSettings.model_validate(yaml.safe_load(text) or {}).root.get(dataset)
        except ValueError:  # of an earlier version
            return found
        if protocol != used:
            return found
        found = commit
    return found


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


_SHOWN = ("margin", "dropout")
