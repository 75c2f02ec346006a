"""Exports a trained model as a folder, from the artifacts that made and measured it."""

import json
import math
import platform
import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import EvalResult, ModelCardData

from densevse.exchange.records import HISTORY_FILE, RECORDS_FILE, VOCABULARY, WEIGHTS_FILE, ModelName, ModelRecords
from densevse.report.columns import RESULTS, RETRIEVAL_METRICS, TOTALS
from densevse.report.footnotes import adopted_note
from densevse.report.plan import SectionPlan, TablePlan
from densevse.report.rendering import Sheet, TableColumn, as_csv, as_markdown
from densevse.report.results import sheets
from densevse.report.sections import MeasuredSection, Row, SectionArtifacts, as_record, read_section
from snakeproof.errors import leaves
from snakeproof.files import checksum, whole_folder
from snakeproof.statements import read_statement
from snakeproof.strict import validate

_PREPROCESSING, _METRICS = "preprocessing.json", "metrics.csv"
CARD = "README.md"
_TRAINING = ("method", "seed", "parameters", "training")
_SOFTWARE = ("numpy", "pandas", "pyarrow", "safetensors", "torch", "torchvision")


def export_model(
    model: str,
    history: str,
    images: str,
    captions: str,
    retrieval: str,
    settings: Mapping[str, Any],
    described: Mapping[str, Any],
    plan: Mapping[str, Any],
    wildcards: Mapping[str, str],
    output: str,
    vocabularies: Sequence[str] = (),
) -> None:
    """The job that writes a model's folder: weights, vocabularies, preprocessing, metrics, card, licences, records.

    `images` and `captions` are its data set's IMAGES and CAPTIONS, `retrieval` its RETRIEVAL. `settings` and
    `described` come from densevse.exchange.dag; `plan` is the `TablePlan` of a table with the model's row only. Raises
    `InputError` if an artifact is missing.
    """
    name = ModelName.from_wildcards(wildcards)
    table = validate(TablePlan, plan, "the plan of the export")
    section, row = _model_section(SectionArtifacts.from_paths([images], [captions], [retrieval]), table)
    trained = read_statement(model)
    settings = {**settings, "code": trained.code or settings["code"]}
    preprocessing = _preprocessing(trained.found, settings, described)
    versions = {"python": platform.python_version(), **{software: version(software) for software in _SOFTWARE}}
    with whole_folder(Path(output)) as temporary:
        shutil.copyfile(model, temporary / WEIGHTS_FILE)
        shutil.copyfile(history, temporary / HISTORY_FILE)
        (temporary / VOCABULARY).mkdir()
        for vocabulary in vocabularies:
            shutil.copyfile(vocabulary, temporary / VOCABULARY / Path(vocabulary).name)
        _write_json(preprocessing, temporary / _PREPROCESSING)
        (temporary / _METRICS).write_text(_csv(section.plan, row), encoding="utf-8")
        measured = sheets([row], section.heading())
        card = model_card(name, settings, described, preprocessing, measured, versions, adopted_note(trained))
        head = card_head(name, described, section.plan.protocol, row)
        (temporary / CARD).write_text(f"{head}\n{card}", encoding="utf-8")
        (temporary / LICENCES).write_text(licences_page(described["licences"]), encoding="utf-8")
        files = {path.relative_to(temporary).as_posix(): checksum(path) for path in sorted(temporary.rglob("*.*"))}
        records = ModelRecords(**name._asdict(), settings=dict(settings), versions=versions, files=files)
        _write_json(records.model_dump(mode="json"), temporary / RECORDS_FILE)


def _model_section(artifacts: SectionArtifacts, plan: TablePlan) -> tuple[MeasuredSection, Row]:
    """The section of a table with the model's row only, and the row."""
    section = read_section(plan.sections[0], artifacts)
    *_, row = section.rows([], {}, None)
    return section, row


def _csv(plan: SectionPlan, row: Row) -> str:
    """The row in the format of a table's CSV file."""
    record = {"dataset": plan.dataset, "protocol": plan.protocol, **as_record(row)}
    frame = pd.DataFrame([record], columns=[column.name for column in RESULTS.columns])
    return as_csv(frame)


def _preprocessing(
    trained: Mapping[str, Any], settings: Mapping[str, Any], described: Mapping[str, Any]
) -> dict[str, Any]:
    """The preparation of images and sentences for the model, with a checksum of each view's network weights."""
    read = trained.get("features", {})
    images = {
        view: {
            **{key: value for key, value in read.get(view, {}).items() if key not in ("parents", "layers")},
            **seen,
            "weights": described["weights"][seen["network"]],
        }
        for view, seen in settings["images"].items()
    }
    return {"images": images, "sentences": settings["sentences"]}


def _write_json(values: Mapping[str, Any], path: Path) -> None:
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def model_card(
    name: ModelName,
    settings: Mapping[str, Any],
    described: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
    measured: Iterable[Sheet],
    versions: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """The card of an exported model, as Markdown; `measured` are the sheets of a table with its row alone."""
    title, (dataset, variant, seed, round) = described["title"], name
    phases = {phase["name"]: {**phase, "name": None} for phase in settings["phases"]}
    values = leaves({**{key: settings[key] for key in _TRAINING}, "phases": phases})
    trained = [(path, value, described["origins"].get(path, "")) for path, value in values if value not in (None, [])]
    software = {"code of the training (digest)": settings["code"], **versions}
    chosen = (
        "the best of its epochs on the validation split"
        if phases
        else "with the weights that it starts from, not trained further"
    )
    parts = [
        f"# {as_markdown(title)}, trained on {as_markdown(described['dataset'])}\n",
        f"The variant `{variant}` of densevse on the training split of `{dataset}`, seed {seed}, round {round}: "
        f"{chosen}.\n",
        *(f"{note}\n" for note in notes),
        *(line for sheet in measured for line in sheet.markdown()),
        *_sheet("Training", ("setting", "value", "origin"), trained),
        *_sheet("Data", ("setting", "value"), leaves(settings["dataset"])),
        *_sheet("Images, as the model is given them", ("view and setting", "value"), leaves(preprocessing["images"])),
        *_sheet("Sentences, as the model is given them", ("setting", "value"), leaves(preprocessing["sentences"])),
        *_sheet("Software that exported the model", ("name", "version"), software.items()),
        "## Use\n\n    densevse import <this folder>\n",
        f"Searches and retrieval of `{variant}` on `{dataset}` then use it as if it had been trained there.\n",
        f"`{LICENCES}` names the licences of what it was trained on.",
    ]
    return "\n".join(parts) + "\n"


def licences_page(licences: Mapping[str, str]) -> str:
    """The licences of what a model was trained on, as Markdown."""
    lines = _sheet("", ("what the model was trained on", "licence"), licences.items())
    return "\n".join(["# Licences of what the model was trained on", "", *lines])


def _sheet(heading: str, headers: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    columns = tuple(TableColumn(header, number=False) for header in headers)
    return Sheet(heading, columns, [[str(cell) for cell in row] for row in rows]).markdown()


LICENCES = "LICENCES.md"
_TASK = "image-text-retrieval"


def card_head(name: ModelName, described: Mapping[str, Any], protocol: str, row: Row) -> str:
    """The head of a card, between its two lines of dashes: licence, data, networks and the metrics of `row`.

    `described` comes from densevse.exchange.dag. Each metric has its 95% interval, if that exists. The licence is
    `other`, with a link to the page of licences, because a model has several.
    """
    head = ModelCardData(
        language="en",
        license="other",
        license_name="of-its-data-and-networks",
        license_link=LICENCES,
        library_name="densevse",
        tags=["densevse", _TASK],
        datasets=described["hub_data_sets"] or [name.dataset],
        base_model=described["hub_networks"] or None,
        model_name=f"{described['title']} on {described['dataset']}",
        eval_results=list(_eval_results(name, described, protocol, row)),
    )
    return f"---\n{head.to_yaml()}\n---\n"


def _eval_results(name: ModelName, described: Mapping[str, Any], protocol: str, row: Row) -> Iterable[EvalResult]:
    """Each metric of the row that has a value."""
    for column in (*RETRIEVAL_METRICS, *TOTALS):
        value = row.metrics.get(column.name)
        if value is None or math.isnan(value):
            continue
        interval = [float(end) for end in row.intervals[column.name]]  # NaN for a test split of few images
        yield EvalResult(
            task_type=_TASK,
            task_name="Image-sentence retrieval",
            dataset_type=name.dataset,
            dataset_name=described["dataset"],
            dataset_config=protocol,
            dataset_split="test",
            metric_type=column.name,
            metric_name=f"{column.name}: {column.meaning}",
            metric_value=float(value),
            metric_args=None if any(map(math.isnan, interval)) else {"interval_95": interval},
        )
