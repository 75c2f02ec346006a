"""`densevse search`: searches photographs for a sentence with a trained model."""

import hashlib
import json
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from densevse.command.main import FAILED
from densevse.command.shared import (
    add_configfiles,
    align_columns,
    check_name,
    configuration,
    configured_project,
    make_targets,
    overrides,
    planned_jobs,
    write_own_configuration,
)
from snakeproof.errors import InputError, differences, spell_none
from snakeproof.statements import RESULTS

NAME = "search"
HELP = "print the photographs that a trained model finds for a sentence"
_ON_PAGE = "sentences of the page"
"""The sentence of a search whose sentences come later."""


class TrainedModel(NamedTuple):
    """A trained variant of a data set."""

    dataset: str
    variant: str
    seed: int | None = None  # None: the data set's first


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the sentence, the photographs to search, and the model."""
    parser.add_argument("sentence", nargs="?", help="in quotation marks; with --serve, leave it out")
    parser.add_argument(
        "photographs", nargs="?", help="photographs: a folder, zip or tar; by default the data set's test images"
    )
    parser.add_argument(
        "--model", required=True, help="<data set>/<variant>, such as scenes/vse, or a model file below the results"
    )
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="the number of photographs to find (default: 5)"
    )
    parser.add_argument(
        "--serve", action="store_true", help="keep the model loaded, and serve a page on this machine to search on"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port of this page; by default a free one")
    parser.add_argument("--cores", default="all", help="cores of this machine to use; all by default")
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Runs the search as the workflow does, and prints its answers or serves its page.

    Raises `InputError` for a wrong search, and if it would first train its model.
    """
    sentence, photographs = _parse_question(arguments)
    config = configuration(overrides(arguments.configfile))
    model = parse_model(arguments.model, config)
    entry: dict[str, Any] = {"dataset": model.dataset, "variant": model.variant, "sentences": [sentence]}
    entry |= {"top": arguments.top} | ({} if model.seed is None else {"seed": model.seed})
    entry |= {"photographs": photographs} if photographs else {}
    name = _search_name(sentence, entry)
    files = [*arguments.configfile, write_own_configuration(name, {"searches": {name: entry}})]
    if arguments.serve:
        return _serve(arguments, model, name, files)
    pages = [f"{config.results}/search/{name}.{kind}" for kind in ("html", "parquet")]
    if not _make_targets(pages, arguments, model, files):
        return FAILED
    print(_format_answers(pages[1]))
    print(f"\nWith pictures: {pages[0]}")
    return 0


def _parse_question(arguments: Namespace) -> tuple[str, str | None]:
    """The sentence and the photographs. Raises `InputError` unless either a sentence or --serve is given."""
    if not arguments.serve:
        if arguments.sentence is None:
            raise InputError('write a sentence in quotation marks, such as "a red ball", or --serve.')
        return arguments.sentence, arguments.photographs
    from densevse.config.environment import check_extra

    check_extra("werkzeug", "serve", "--serve")
    if arguments.photographs is not None:
        raise InputError(f"--serve: {arguments.sentence!r} is one too many; type sentences on the page.")
    return _ON_PAGE, arguments.sentence  # the only one that is no option


def _serve(arguments: Namespace, model: TrainedModel, name: str, files: Sequence[str]) -> int:
    """Serves the page of a search until Ctrl-C."""
    from densevse.analyses.searches.dag import server_inputs

    served = server_inputs(configured_project(files), name)
    if not _make_targets(served.made, arguments, model, files):
        return FAILED
    from densevse.analyses.searches.server import serve

    serve(served, arguments.top, arguments.port)
    return 0


def _make_targets(targets: Sequence[str], arguments: Namespace, model: TrainedModel, files: Sequence[str]) -> bool:
    """Runs the workflow for the targets; true if all are made. Raises `InputError` if it would train the model."""
    config = configuration(overrides(files))
    if any(job.stage == "train" for job in planned_jobs(targets, files, config.results)):  # which may take days
        raise InputError(_untrained_message(model, arguments.configfile))
    return make_targets(targets, files, arguments.cores)


def _search_name(sentence: str, entry: Mapping[str, Any]) -> str:
    """The name of a search in paths: the words of its sentence, and a digest of all that is asked."""
    words = re.sub(r"\W+", "-", sentence).strip("-").encode()[:40].decode(errors="ignore")
    return f"command-{words}-{hashlib.sha256(json.dumps(entry).encode()).hexdigest()[:8]}"


def _untrained_message(model: TrainedModel, configfiles: Sequence[str]) -> str:
    """The message about a model that would first be trained: how the one that is there differs, and the remedy."""
    from densevse.config.values import DatasetName, VariantName
    from densevse.dag import training

    dataset, variant = DatasetName(model.dataset), VariantName(model.variant)
    project = configured_project(configfiles)
    seed = project.first_seed(dataset) if model.seed is None else model.seed
    last = project.variant(dataset, variant).last_round
    file = f"{project.results}/{dataset}/models/{variant}/seed{seed}/round{last}/model.safetensors"
    given = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    advice = f"`densevse plan {file}{given}` shows what its training needs, and `densevse run` with the same trains it."
    missing = f"--model: {variant} is not trained on {dataset}"
    if not Path(file).is_file():
        return f"{missing}: {file} is not there. {advice}"
    os.environ[RESULTS] = project.results
    today = training.job(project, dataset, variant, seed, last).settings["job"]
    today["options"] = project.datasets[dataset].options.model_dump(mode="json")
    return (
        f"{missing} with the settings and code of today: {file} differs in\n{_differences(file, today)}\nIf it was "
        f"trained with a file of yours, name that file with --configfile. {advice}"
    )


def _differences(file: str, today: Mapping[str, Any]) -> str:
    """The settings of training and the options of the data set in which a model differs, a line each; or its code."""
    from snakeproof.statements import parents, read_statement

    model = read_statement(file)
    # A file of an earlier version has all settings as found. The options are unknown if the image table is another now.
    there = {"options": today["options"], **model.given.get("job", model.found)}
    for images in parents(model).get("image_table", []):
        there |= {"options": images.given.get("reading", images.found).get("options", {})}
    found = differences({key: there.get(key) for key in today}, today)
    lines = [f"  {path}: {spell_none(old)} there, {spell_none(new)} today" for path, (old, new) in found.items()]
    return "\n".join(lines or ["  its code, the files that it was made from, or its records"])


def parse_model(text: str, config: Any) -> TrainedModel:
    """The model that a user names. Raises `InputError` if there is no such model."""
    if text.endswith(".safetensors"):
        return _parse_model_file(Path(text), config)
    dataset, slash, variant = text.partition("/")
    if not slash and dataset in config.datasets:
        raise InputError(f"--model: {text!r} names a data set alone; write <data set>/<variant>, such as {text}/vse.")
    if not slash:
        raise InputError(f"--model: {text!r} names no data set; write <data set>/<variant>, such as scenes/{text}.")
    check_name("data set", dataset, list(config.datasets))
    check_name("variant", variant, config.variant_names())
    return TrainedModel(dataset, variant)


def _parse_model_file(file: Path, config: Any) -> TrainedModel:
    """A model by its file: <results>/<data set>/models/<variant>/seed<k>/round<t>/model.safetensors."""
    from densevse.config.load import variant
    from densevse.exchange.records import ModelName

    if not file.is_file():
        raise InputError(f"--model: {file} is not there; correct the path, or train the model (`densevse run {file}`).")
    try:
        named = ModelName.from_place(file.resolve().parent.relative_to(Path(config.results).resolve()).as_posix())
    except ValueError:
        raise InputError(
            f"--model: {file} is not in {config.results} as <data set>/models/<variant>/seed<k>/round<t>/"
            "model.safetensors, so no records say how it was made; name <data set>/<variant>."
        ) from None
    check_name("data set", named.dataset, list(config.datasets))
    check_name("variant", named.variant, config.variant_names())
    last = variant(config, named.dataset, named.variant).last_round
    if named.round != last:
        raise InputError(
            f"--model: {file} is of round {named.round}, and searches ask the last round of {named.variant}, {last}."
        )
    return TrainedModel(named.dataset, named.variant, named.seed)


def _format_answers(path: str) -> str:
    """The answers that a search found, the best first."""
    from densevse.analyses.searches.schemas import FOUND
    from snakeproof import schema

    rows = schema.read(path, FOUND)
    table = [("rank", "score", "image")]
    table += [(str(row.rank), f"{row.score:.3f}", str(row.image_id)) for row in rows.itertuples()]
    unknown = ", ".join(rows["unknown_words"].iloc[0])
    note = f"\nWords that the model does not know: {unknown}" if unknown else ""
    return align_columns(table, cut=2, right=(0, 1)) + note
