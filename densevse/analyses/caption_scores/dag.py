"""Tables of generated captions in the plan: their writers, metrics and artifacts."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from densevse.analyses.caption_scores.settings import (
    NO_ORACLE,
    CaptionOracleMeansPlan,
    CaptionOraclePlan,
    CaptionScoreSettings,
    CaptionTable,
    CaptionTablePlan,
    OracleRow,
    WriterPlan,
    writer_with_oracle,
)
from densevse.artifacts.identity import Identity
from densevse.config.values import DatasetName
from densevse.dag import datasets, generators
from densevse.dag.datasets import Resplits, group_resplits
from densevse.dag.project import Project, name_pattern
from densevse.runtime.project import PACKAGE
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values
from snakeproof.strict import Strict

COPIED, PERSON = "copied", "person"
KNOWN = {NO_ORACLE: "nothing", "tags": "tags", "content": "content", "tags_and_content": "tags and content"}
SELECTIONS = {
    "translation": "s(x, v) and n-gram model",
    "likelihood": "log P(words given tags, v) per word",
    "joint_likelihood": "log P(words, tags given v) per word",
    "best": "oracle: best CIDEr",
}


def writers(project: Project) -> str:
    """Every writer of captions: generators, also with oracles, the nearest training image, a person."""
    oracles = (writer_with_oracle(*each) for each in product(project.config.generator_names(), KNOWN, SELECTIONS))
    return name_pattern([*project.config.generator_names(), COPIED, PERSON, *oracles])


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """A data set's table of generated captions, and its picture of them."""
    return [f"{project.results}/tables/{dataset}_captions.md", f"{project.results}/figures/{dataset}/captions.png"]


def oracle_job(project: Project, dataset: DatasetName, generator: str, seed: int) -> Job:
    """The writing of a generator's sentences with an oracle, which chooses the best of those that are kept."""
    job = generators.captions_job(project, dataset, generator, seed)
    written = job.settings["job"]
    decoding = {**written["decoding"], "kept": _settings(project, dataset).oracles.sentences}
    return job._replace(settings={"job": {**written, "decoding": decoding}})


def scoring_job(project: Project, dataset: DatasetName, writer: str) -> Job:
    """The metrics of a writer's captions; METEOR and SPICE only with Java, and not for oracles."""
    plain = writer in (*project.config.generator_names(), COPIED, PERSON)
    asked = _settings(project, dataset).metrics if plain else ["bleu", "cider"]
    metrics = [name for name in asked if name not in ("meteor", "spice") or shutil.which("java")]
    return Job({"metrics": metrics}, revisions={"inner_stops": 2})


def needs_spice(project: Project, dataset: DatasetName, writer: str) -> bool:
    """True if SPICE is measured of a writer's captions, and its folder is there or Maven can obtain it."""
    obtainable = shutil.which("mvn") is not None or Path(project.resources, "spice").exists()
    return obtainable and "spice" in scoring_job(project, dataset, writer).settings["metrics"]


def compared_writers(project: Project, dataset: DatasetName) -> dict[str, WriterPlan]:
    """Every writer of a table by its name; a person's sentences are the same for every seed."""
    seeds, table = project.datasets[dataset].seeds, _settings(project, dataset)
    generated = {
        name: WriterPlan(title=project.generator(dataset, name).title, seeds=seeds) for name in table.generators
    }
    copied = WriterPlan(title=_copied_title(project, dataset), seeds=seeds)
    return {**generated, COPIED: copied, PERSON: WriterPlan(title=_person_title(project, dataset), seeds=[0])}


def _person_title(project: Project, dataset: DatasetName) -> str:
    """The title of the writer of an image's own first sentence: a person, unless the data set is generated."""
    made = any(source.made_by for source in project.datasets[dataset].sources.values())
    return "the image's own sentence" if made else "a person"


def measured_oracles(project: Project, dataset: DatasetName) -> list[Values]:
    """Every writer of a table of oracles with each of its seeds."""
    return [{"writer": row.writer, "seed": seed} for row in _oracle_rows(project, dataset) for seed in row.seeds]


def divided_datasets(project: Project) -> str:
    """The data sets that two or more resplits divide."""
    resplits = (entry.resplit for entry in project.config.datasets.values() if entry.resplit)
    owners = Counter(resplit.of for resplit in resplits)
    return name_pattern(owner for owner, count in owners.items() if count > 1)


def measured_resplits(project: Project, dataset: DatasetName) -> list[Values]:
    """Every writer of the means of tables of oracles with each of its seeds, on each resplit of a data set."""
    plans = oracle_means_job(project, dataset).settings["plan"]["resplits"]
    return [
        {"resplit": plan["dataset"], "writer": row["writer"], "seed": seed}
        for plan in plans
        for row in plan["rows"]
        for seed in row["seeds"]
    ]


def picture_job(project: Project, dataset: DatasetName) -> Job:
    """The picture of the writers' sentences about test images."""
    shown = {
        entry.title: Identity(dataset, name, entry.seeds[0], split="test")
        for name, entry in compared_writers(project, dataset).items()
    }
    return datasets.picture_job(project, dataset, _title(project, dataset), shown)


def has_published_metrics(project: Project, dataset: DatasetName) -> bool:
    """True if there are published metrics for a data set."""
    return (PACKAGE / f"analyses/caption_scores/published/{dataset}.csv").exists()


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The table of generated captions."""
    captions = _settings(project, dataset)
    plan = CaptionTablePlan(
        title=_title(project, dataset),
        dataset=dataset,
        split="test",
        reference=captions.reference,
        metrics=list(captions.metrics),
        writers=compared_writers(project, dataset),
    )
    return Job({"plan": plan.model_dump(mode="json")})


def oracle_table_job(project: Project, dataset: DatasetName) -> Job:
    """The table of oracles."""
    oracles = _settings(project, dataset).oracles
    generators = {name: project.generator(dataset, name) for name in oracles.generators}
    spaces = dict.fromkeys(entry.joint_embedding for entry in generators.values() if entry.joint_embedding)
    entries: dict[str, Strict] = {**generators, **{name: project.variant(dataset, name) for name in spaces}}
    plan = CaptionOraclePlan(
        title=f"{project.datasets[dataset].title}: sentences written and chosen with oracles",
        dataset=dataset,
        split="test",
        reference=generators[oracles.reference].title,
        sentences=oracles.sentences,
        rows=list(_oracle_rows(project, dataset)),
        settings={name: entry.model_dump(mode="json") for name, entry in entries.items()},
    )
    return Job({"plan": plan.model_dump(mode="json")})


def oracle_means_job(project: Project, dataset: DatasetName) -> Job:
    """The means of tables of oracles. Raises `InputError` for resplits with other settings."""
    resplits = _resplits(project, dataset)
    tables = [oracle_table_job(project, name).settings["plan"] for name in resplits.names]
    plans = [CaptionOraclePlan.model_validate(plan) for plan in tables]
    rows = _shared_rows(plans)
    plan = CaptionOracleMeansPlan(
        title=f"{project.datasets[dataset].title}, resplits: sentences written and chosen with oracles",
        dataset=dataset,
        resplits=[plan.model_copy(update={"rows": rows}) for plan in plans],
        train=resplits.train,
        test=resplits.test,
    )
    return Job({"plan": plan.model_dump(mode="json")})


def _settings(project: Project, dataset: DatasetName) -> CaptionTable:
    return project.config.analysis(CaptionScoreSettings).dataset_entry(dataset)


def _resplits(project: Project, dataset: DatasetName) -> Resplits:
    """The resplits of a data set. Raises `InputError` if they have several sizes, or are the same splits."""
    datasets = project.config.datasets
    names = [name for name, entry in datasets.items() if entry.resplit and entry.resplit.of == dataset]
    found = group_resplits(names, datasets)
    if len(found) != 1 or found[0].names != names:
        raise InputError(
            f"datasets: {', '.join(names)} have other sizes in resplit, and a mean over them would be of no one "
            "experiment; set the sizes alike."
        )
    return found[0]


def _oracle_rows(project: Project, dataset: DatasetName) -> Iterator[OracleRow]:
    oracles = _settings(project, dataset).oracles
    seeds, reference = oracles.seeds or project.datasets[dataset].seeds, oracles.reference
    for generator, parts in oracles.generators.items():
        title, plain = project.generator(dataset, generator).title, writer_with_oracle(generator)
        for known in (NO_ORACLE, *parts):
            one = "tags" in known  # a sentence is written along each tag sequence, so there is one
            compared = generator != reference and known in (NO_ORACLE, *oracles.generators[reference])
            for selection in ["translation"] if one else SELECTIONS:
                name = writer_with_oracle(generator, known, selection)
                yield OracleRow(
                    writer=name,
                    title=title,
                    known=KNOWN[known],
                    selection="the only one" if one else SELECTIONS[selection],
                    seeds=seeds,
                    without_oracle=None if name == plain else plain,
                    beside=writer_with_oracle(reference, known, selection) if compared else None,
                )
    for name, title, of in (
        (COPIED, _copied_title(project, dataset), seeds),
        (PERSON, _person_title(project, dataset), [0]),
    ):
        yield OracleRow(
            writer=name,
            title=title,
            known="",
            selection="",
            seeds=of,
            without_oracle=None,
            beside=writer_with_oracle(reference),
        )


def _copied_title(project: Project, dataset: DatasetName) -> str:
    neighbour = project.variant(dataset, _settings(project, dataset).neighbour).title
    return f"copied from the nearest training image ({neighbour})"


def _title(project: Project, dataset: DatasetName) -> str:
    return f"Sentences about images of {project.datasets[dataset].title}"


def _shared_rows(plans: Sequence[CaptionOraclePlan]) -> list[OracleRow]:
    """The rows that all tables have. Raises `InputError` if rows of one writer, or their settings, differ."""
    first, *others = plans
    found = {row.writer: row for row in first.rows}
    for plan in others:
        rows = {row.writer: row for row in plan.rows}
        found = {name: row for name, row in found.items() if name in rows}
        alike = all(rows[name] == row for name, row in found.items())
        if not alike or (plan.settings, plan.sentences) != (first.settings, first.sentences):
            raise InputError(
                f"caption_scores.{plan.dataset}.oracles: its seeds, its sentences or the settings of its generators "
                f"are not those of {first.dataset}, and a mean over both would be of no one method; set them alike."
            )
    return list(found.values())
