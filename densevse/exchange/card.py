"""Writes a model's card: a page about the model, its making, its metrics and its licences."""

from collections.abc import Iterable, Mapping
from typing import Any

from densevse.exchange.records import ModelName
from densevse.report.rendering import Sheet, TableColumn
from densevse.runtime.nested import leaves

CARD, LICENCES = "README.md", "LICENCES.md"
_TRAINING = ("method", "seed", "parameters", "training")


def model_card(
    name: ModelName,
    settings: Mapping[str, Any],
    described: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
    measured: Iterable[Sheet],
    versions: Mapping[str, str],
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
        f"# {title}, trained on {described['dataset']}\n",
        f"The variant `{variant}` of densevse on the training split of `{dataset}`, seed {seed}, round {round}: "
        f"{chosen}.\n",
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


def page_of_licences(licences: Mapping[str, str]) -> str:
    """The licences of what a model was trained on, as Markdown."""
    lines = _sheet("", ("what the model was trained on", "licence"), licences.items())
    return "\n".join(["# Licences of what the model was trained on", "", *lines])


def _sheet(heading: str, headers: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    columns = tuple(TableColumn(header, number=False) for header in headers)
    return Sheet(heading, columns, [[str(cell) for cell in row] for row in rows]).markdown()
