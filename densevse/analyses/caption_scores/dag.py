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
from densevse.dag.datasets import DatasetStage, Resplits, group_resplits
from densevse.dag.project import Stage, name_pattern
from densevse.dag.training import GeneratorStage
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


class CaptionScoreStage(Stage):
    """The writers that are compared in results/tables/<data set>_captions.md."""

    def writers(self) -> str:
        """Every writer of captions: generators, also with oracles, the nearest training image, a person."""
        oracles = (writer_with_oracle(*each) for each in product(self.config.generator_names(), KNOWN, SELECTIONS))
        return name_pattern([*self.config.generator_names(), COPIED, PERSON, *oracles])

    def target_files(self, dataset: DatasetName) -> list[str]:
        """A data set's table of generated captions, and its picture of them."""
        return [f"{self.results}/tables/{dataset}_captions.md", f"{self.results}/figures/{dataset}/captions.png"]

    def oracle_job(self, dataset: DatasetName, generator: str, seed: int) -> Job:
        """The writing of a generator's sentences with an oracle, which chooses the best of those that are kept."""
        job = GeneratorStage(self.project).captions_job(dataset, generator, seed)
        written = job.settings["job"]
        decoding = {**written["decoding"], "kept": self._settings(dataset).oracles.sentences}
        return job._replace(settings={"job": {**written, "decoding": decoding}})

    def scoring_job(self, dataset: DatasetName, writer: str) -> Job:
        """The metrics of a writer's captions; METEOR and SPICE only with Java, and not for oracles."""
        plain = writer in (*self.config.generator_names(), COPIED, PERSON)
        asked = self._settings(dataset).metrics if plain else ["bleu", "cider"]
        return Job({"metrics": [name for name in asked if name not in ("meteor", "spice") or shutil.which("java")]})

    def spice_folder(self, dataset: DatasetName, writer: str) -> Values | None:
        """No further values if SPICE's folder is an input, else None: if it is requested and obtainable (by Maven)."""
        obtainable = shutil.which("mvn") or Path(self.resources, "spice").exists()
        return {} if "spice" in self.scoring_job(dataset, writer).settings["metrics"] and obtainable else None

    def compared_writers(self, dataset: DatasetName) -> dict[str, WriterPlan]:
        """Every writer of a table by its name; a person's sentences are the same for every seed."""
        seeds, table = self.dataset(dataset).seeds, self._settings(dataset)
        generated = {
            name: WriterPlan(title=self.project.generator(dataset, name).title, seeds=seeds)
            for name in table.generators
        }
        copied = WriterPlan(title=self._copied_title(dataset), seeds=seeds)
        return {**generated, COPIED: copied, PERSON: WriterPlan(title=self._person_title(dataset), seeds=[0])}

    def _person_title(self, dataset: DatasetName) -> str:
        """The title of the writer of an image's own first sentence: a person, unless the data set is generated."""
        made = any(source.made_by for source in self.dataset(dataset).sources.values())
        return "the image's own sentence" if made else "a person"

    def measured_oracles(self, dataset: DatasetName) -> list[Values]:
        """Every writer of a table of oracles with each of its seeds."""
        return [{"writer": row.writer, "seed": seed} for row in self._oracle_rows(dataset) for seed in row.seeds]

    def divided_datasets(self) -> str:
        """The data sets that two or more resplits divide."""
        resplits = (entry.resplit for entry in self.config.datasets.values() if entry.resplit)
        owners = Counter(resplit.of for resplit in resplits)
        return name_pattern(owner for owner, count in owners.items() if count > 1)

    def measured_resplits(self, dataset: DatasetName) -> list[Values]:
        """Every writer of the means of tables of oracles with each of its seeds, on each resplit of a data set."""
        plans = self.oracle_means_job(dataset).settings["plan"]["resplits"]
        return [
            {"resplit": plan["dataset"], "writer": row["writer"], "seed": seed}
            for plan in plans
            for row in plan["rows"]
            for seed in row["seeds"]
        ]

    def picture_job(self, dataset: DatasetName) -> Job:
        """The picture of the writers' sentences about test images."""
        shown = {
            entry.title: Identity(dataset, name, entry.seeds[0], split="test")
            for name, entry in self.compared_writers(dataset).items()
        }
        return DatasetStage(self.project).picture_job(dataset, self._title(dataset), shown)

    def published_metrics(self, dataset: DatasetName) -> Values | None:
        """No further values if there are published metrics for a data set, or else None."""
        return {} if (PACKAGE / f"analyses/caption_scores/published/{dataset}.csv").exists() else None

    def table_job(self, dataset: DatasetName) -> Job:
        """The table of generated captions."""
        captions = self._settings(dataset)
        plan = CaptionTablePlan(
            title=self._title(dataset),
            dataset=dataset,
            split="test",
            reference=captions.reference,
            metrics=list(captions.metrics),
            writers=self.compared_writers(dataset),
        )
        return Job({"plan": plan.model_dump(mode="json")})

    def oracle_table_job(self, dataset: DatasetName) -> Job:
        """The table of oracles."""
        oracles = self._settings(dataset).oracles
        generators = {name: self.project.generator(dataset, name) for name in oracles.generators}
        spaces = dict.fromkeys(entry.joint_embedding for entry in generators.values() if entry.joint_embedding)
        entries: dict[str, Strict] = {**generators, **{name: self.project.variant(dataset, name) for name in spaces}}
        plan = CaptionOraclePlan(
            title=f"{self.title(dataset)}: sentences written and chosen with oracles",
            dataset=dataset,
            split="test",
            reference=generators[oracles.reference].title,
            sentences=oracles.sentences,
            rows=list(self._oracle_rows(dataset)),
            settings={name: entry.model_dump(mode="json") for name, entry in entries.items()},
        )
        return Job({"plan": plan.model_dump(mode="json")})

    def oracle_means_job(self, dataset: DatasetName) -> Job:
        """The means of tables of oracles. Raises `InputError` for resplits with other settings."""
        resplits = self._resplits(dataset)
        tables = [self.oracle_table_job(name).settings["plan"] for name in resplits.names]
        plans = [CaptionOraclePlan.model_validate(plan) for plan in tables]
        rows = _shared_rows(plans)
        plan = CaptionOracleMeansPlan(
            title=f"{self.title(dataset)}, resplits: sentences written and chosen with oracles",
            dataset=dataset,
            resplits=[plan.model_copy(update={"rows": rows}) for plan in plans],
            train=resplits.train,
            test=resplits.test,
        )
        return Job({"plan": plan.model_dump(mode="json")})

    def _settings(self, dataset: DatasetName) -> CaptionTable:
        return self.config.analysis(CaptionScoreSettings).dataset_entry(dataset)

    def _resplits(self, dataset: DatasetName) -> Resplits:
        """The resplits of a data set. Raises `InputError` if they have several sizes, or are the same splits."""
        datasets = self.config.datasets
        names = [name for name, entry in datasets.items() if entry.resplit and entry.resplit.of == dataset]
        found = group_resplits(names, datasets)
        if len(found) != 1 or found[0].names != names:
            raise InputError(
                f"datasets: {', '.join(names)} have other sizes in resplit, and a mean over them would be of no one "
                "experiment; set the sizes alike."
            )
        return found[0]

    def _oracle_rows(self, dataset: DatasetName) -> Iterator[OracleRow]:
        oracles = self._settings(dataset).oracles
        seeds, reference = oracles.seeds or self.dataset(dataset).seeds, oracles.reference
        for generator, parts in oracles.generators.items():
            title, plain = self.project.generator(dataset, generator).title, writer_with_oracle(generator)
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
            (COPIED, self._copied_title(dataset), seeds),
            (PERSON, self._person_title(dataset), [0]),
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

    def _copied_title(self, dataset: DatasetName) -> str:
        neighbour = self.project.variant(dataset, self._settings(dataset).neighbour).title
        return f"copied from the nearest training image ({neighbour})"

    def _title(self, dataset: DatasetName) -> str:
        return f"Sentences about images of {self.title(dataset)}"


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
