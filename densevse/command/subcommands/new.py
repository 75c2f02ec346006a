"""`densevse new`: looks at a person's files and writes the configuration that reads them.

The recognisers of layouts are in densevse/datasets/own_files.py, and those of weights in densevse/command/weights.py.
"""

import csv
import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from densevse.command.shared import ROOT, configuration, overrides
from snakeproof.errors import InputError

HELP = "look at your photographs and sentences, and write the configuration for them"
WITH_SENTENCES, WITHOUT = "photographs with five sentences each", "photographs without sentences to train on"
"""What a person has, as config/starting_points.csv calls it."""
UNDERSTOOD = """Understood is a folder, zip or tar of photographs, alone (to search them) or with one of
  a table of pairs (.csv, .tsv, .jsonl, .parquet) with columns such as image and sentence
  MS-COCO's captions_*.json; Karpathy's dataset_*.json
  a folder with a token file (lines <photograph>#<number>, tab, sentence) and a list for each split
  a folder with a text file for each photograph
or, alone, a tar or a folder of tars of samples (<key>.jpg beside <key>.txt), a Parquet table with pictures in it, or
SCAN's folder of features. docs/data_sets.md describes them."""
METHODS = ("vse", "vsepp")
REASONS = {
    "local": "your weights",
    "mean": "of red, green and blue, with which these weights were trained; a wrong one gives a wrong table",
    "std": "likewise",
    "parameters": "as on Flickr8k",
    "training": "a batch is at most an eighth of the training pairs",
    "phases": "as many epochs as make some 400 steps, or as on Flickr8k",
}

Line = tuple[int, str, Any, str]
"""A line of the file: its depth, its key, its value (`BELOW` if that follows in deeper lines) and the reason for it."""
BELOW: Any = object()


class Found(NamedTuple):
    """A data set as its files are: the keys of its entry, and what they list."""

    entry: Mapping[str, Any]
    seen: str  # what its sentences are
    images: int
    train: int  # images of the split
    sentences: int


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files, the weights, and the file to write."""
    parser.add_argument("files", nargs="+", help="your photographs (a folder, zip or tar), and your sentences if any")
    parser.add_argument("--weights", metavar="FILE", help="the weights of a network of yours; else some are downloaded")
    parser.add_argument("--to", default="mine.yaml", metavar="FILE", help="the file to write (default: mine.yaml)")


def run(arguments: Namespace) -> int:
    """Writes the file, and prints what was seen and the next commands.

    Raises `InputError` for files that no reader reads, and if the file to write is there already.
    """
    config, target, files, weights = configuration(overrides([])), arguments.to, arguments.files, arguments.weights
    name = _check_name(Path(target), config)
    if missing := [file for file in [*files, *filter(None, [weights])] if not Path(file).exists()]:
        raise InputError(f"{missing[0]} is not there; correct the path.")
    if weights and Path(weights).is_dir():
        raise InputError(f"--weights: {weights} is a folder; name the file of the weights.")
    pictures = {file: names for file in files if (names := _picture_names(file))}
    found = _recognise(files, pictures)
    lines = [*(_dataset_lines(name, found, weights, config) if found else _search_lines(name, files[0], weights))]
    told = (
        f"# {Path(target).name}, written by `densevse new {_printable(shlex.join(files))}`: read it, and change it.\n"
    )
    Path(target).write_text(told + "".join(_format_line(*line) for line in lines), encoding="utf-8")
    print(f"Wrote {target}, with a comment at each line.")
    if asked := [key for _, key, value, _ in lines if str(value).startswith("write ")]:
        print(f"First write there the {' and '.join(asked)} of your weights: wrong ones give a wrong table.")
    table = f"results/{'tables' if found else 'search'}/{name}.md"
    print(f"Next:\n  densevse plan {table} --configfile {target}")
    print(f"  densevse run {table} --configfile {target} --cores 2\n  cat {table}")
    return 0


def _check_name(target: Path, config: Any) -> str:
    """The name of the data set: that of the file. Raises `InputError` if it cannot be written, or the name is taken."""
    from snakeproof.strict import check_file_name

    if target.exists():
        raise InputError(f"{target} is there already; name another file with --to, or remove it.")
    if not target.parent.is_dir():
        raise InputError(f"--to: the folder {target.parent} is not there; make it, or name another file.")
    if not re.fullmatch(r"[A-Za-z]\w*\.yaml", target.name):
        raise InputError(f"--to: {target} must be called <name>.yaml, with letters, digits and _ in the name.")
    if target.stem in {*config.datasets, *config.tables}:
        raise InputError(f"--to: {target.stem} is a data set or table of the project; name another file.")
    try:
        check_file_name(target.stem)
        for kind in ("datasets", "tables"):
            config.check_names(kind, [*getattr(config, kind), target.stem])
    except ValueError as error:
        raise InputError(f"--to: {target}: {error}. Name another file.") from None
    return target.stem


def _picture_names(file: str) -> list[str]:
    """The names of the pictures in a folder or archive."""
    from densevse.artifacts.images import SUFFIXES

    return [name for name in _names(file) if PurePosixPath(name).suffix.lower() in SUFFIXES]


def _names(file: str) -> list[str]:
    from densevse.artifacts.archives import Archive
    from densevse.datasets.layout import is_plain_file

    return [] if is_plain_file(file) else Archive.open(file).names()


def _recognise(files: Sequence[str], pictures: Mapping[str, list[str]]) -> Found | None:
    """The data set that the files are; None for photographs alone. Raises `InputError` for any other files."""
    from densevse.datasets.own_files import list_possible_tables, recognise_files

    stems = {PurePosixPath(name).stem for names in pictures.values() for name in names}
    layouts = [(file, *one) for file in files for one in recognise_files(file, stems).items()]
    known = {file for file, _, _ in layouts}
    folders = [file for file in pictures if file not in known] or [*pictures]
    needed = 0 if layouts and layouts[0][2].holds_pictures else 1
    if {*files} - known - {*pictures} or len(layouts) > 1 or len({*folders} - (set() if needed else known)) != needed:
        seen = [f"  {file}: {_describe_file(file, len(pictures.get(file, [])))}" for file in files]
        seen += [f"  {file}: {layout.seen} (reader {reader})" for file, reader, layout in layouts]
        also = (
            ["Name the one folder, zip or tar with its photographs too."]
            if layouts and len({*folders}) < needed
            else []
        )
        raise InputError("\n".join(["not understood:", *seen, *also, UNDERSTOOD]))
    if possible := [] if layouts else [(file, name) for file in files for name in list_possible_tables(file)]:
        listed = ", ".join(name for _, name in possible[:5]) + (", ..." if len(possible) > 5 else "")
        raise InputError(
            f"{possible[0][0]}: its sentences could be in {listed}. If one file has them, name it too, after "
            f"{possible[0][0]}. If each photograph has a text of its own name, move other texts away, a README too. To "
            "search the photographs alone, move all such files away."
        )
    if not layouts:
        print(f"Seen: {len(stems):,} photographs in {files[0]} and no sentences, so CLIP searches them.")
        return None
    ((file, reader, layout),) = layouts
    local = {**({"images": folders[0]} if needed else {}), layout.source: file}
    entry = {"reader": reader, "local": local, "options": layout.options, **layout.entry}
    return _count(layout.seen, entry, layout.holds_pictures)


def _count(seen: str, entry: Mapping[str, Any], holds_pictures: bool) -> Found:
    """Reads the lists of a data set, and prints what they have. Raises `InputError` if any are missing."""
    from densevse.artifacts.archives import Archive
    from densevse.artifacts.file_names import refuse_alike
    from densevse.config.datasets import Reading
    from densevse.datasets.own_files import list_dataset
    from snakeproof.strict import validate

    reading = validate(Reading, {key: entry[key] for key in ("reader", "options")}, "the data set")
    images, captions = list_dataset(reading, entry["local"])
    splits, written = images["split"].value_counts(), captions.dropna(subset="text")  # null is no sentence
    sentences = int(written["image_id"].isin(images["image_id"]).sum())
    if empty := [split for split in ("train", "val", "test") if split not in splits]:
        raise InputError(f"{seen}: no photograph is in the split {empty[0]}; each of train, val and test needs some.")
    if not sentences:
        raise InputError(f"{seen}: no sentence is of one of the {len(images):,} photographs; name them alike in both.")
    if not holds_pictures:
        there = Archive.open(entry["local"]["images"])
        if missing := [file for file in images["file"] if file not in there]:
            refuse_alike(missing, there.names(), f"{seen}: photographs that are not there, and files that are")
            raise InputError(
                f"{seen}: {len(missing):,} of {len(images):,} photographs are not there, such as {missing[0]}; add "
                "them, or leave out what names them."
            )
    told = ", ".join(f"{number:,} {split}" for split, number in splits.items())
    print(f"Seen: {seen}.\n{len(images):,} photographs ({told}), {sentences:,} sentences.")
    return Found(entry, seen, len(images), int(splits["train"]), sentences)


def _describe_file(file: str, pictures: int) -> str:
    """What is seen in a file or folder."""
    if names := _names(file):
        return f"{len(names):,} files, {pictures:,} of them pictures; the first is {min(names)}"
    return "empty" if Path(file).is_dir() else f"a file that begins with {Path(file).read_bytes()[:60]!r}"


def _dataset_lines(name: str, found: Found, weights: str | None, config: Any) -> Iterator[Line]:
    """The lines for a data set: its entry, its network, settings for its number of pairs, and its table."""
    from densevse.command.weights import recognise_weights

    if weights and "features" in found.entry:
        raise InputError(f"--weights: {found.entry['reader']}'s files have features already; leave it out.")
    network, own, known = recognise_weights(weights, config.networks) if weights else ("mobilenet_v2", {}, "")
    row = _starting_row(WITH_SENTENCES, own.get("architecture", network))
    yield 0, "datasets", BELOW, ""
    yield 1, name, BELOW, "its name; in results/ and in commands"
    yield 2, "title", name, "its name in tables"
    yield 2, "reader", found.entry["reader"], f"it reads {found.seen}"
    yield 2, "local", found.entry["local"], "your files, from the folder where you type the commands"
    yield 2, "options", found.entry["options"], "of the reader: docs/data_sets.md"
    yield 2, "about_images", found.images, "as counted today; for memory and time"
    yield 2, "word_vectors", None, "words are learned from your sentences of train"
    for key in ("features", "networks") if "features" in found.entry else ():
        yield 2, key, found.entry[key], "features that were computed elsewhere: docs/features.md"
    if "features" not in found.entry:
        yield 2, "networks", {"whole": network}, "it makes a vector of each photograph"
        yield from [(0, "networks", BELOW, ""), (1, network, BELOW, f"of your weights, {known}")] if own else []
        yield from ((2, key, value, REASONS.get(key, "docs/networks.md")) for key, value in own.items())
    chosen = _find_settings_file(row["configuration"])
    yield 0, "methods", BELOW, f"settings chosen on Flickr8k, in {chosen} below datasets.flickr8k, for so many pairs"
    settings = _chosen_settings(row["configuration"], found.sentences * found.train // found.images)
    for depth, method in zip((1, 3), METHODS, strict=True):
        yield depth, method, BELOW, "the rows to begin with: docs/results/start.md"
        yield from [(depth + 1, "datasets", BELOW, ""), (depth + 2, name, BELOW, "")]
        yield from ((depth + 3, key, value, REASONS[key]) for key, value in settings[method].items())
        yield from [(2, "variants", BELOW, "")] if method == METHODS[0] else []
    table = {"title": name, "sections": [{"dataset": name}], "measure": [*METHODS]}
    yield from [(0, "tables", BELOW, ""), (1, name, table, f"results/tables/{name}.md")]


def _search_lines(name: str, folder: str, weights: str | None) -> Iterator[Line]:
    """The lines for a search of photographs."""
    row = _starting_row(WITHOUT)
    own = {"local": weights}
    yield from (
        [(0, "networks", BELOW, ""), (1, row["network"], own, "which your weights must be of")] if weights else []
    )
    yield from [(0, "searches", BELOW, ""), (1, name, BELOW, f"results/search/{name}.md and .html")]
    yield 2, "dataset", "flickr30k", "only its settings of the row are used, and none of its files"
    yield 2, "variant", row["method"], "it needs no training"
    yield 2, "photographs", folder, "your photographs"
    yield 2, "sentences", ["a dog on the grass", "people at a table"], "what to search for: write your own"


def _starting_row(data: str, network: str = "") -> Mapping[str, str]:
    """The row of config/starting_points.csv for what a person has and a network; else the first for the data."""
    with open(ROOT / "config/starting_points.csv", encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["data"] == data]
    return next((row for row in rows if row["network"] == network), rows[0])


def _chosen_settings(file: str, pairs: int) -> Mapping[str, Mapping[str, Any]]:
    """Method -> its settings on Flickr8k with a file over the configuration, for fewer training pairs."""
    from densevse.config.load import find_layers, merge

    config, found = configuration(overrides([str(ROOT / file)])), {}
    for method in METHODS:
        merged: Any = reduce(merge, (layer for _, layer in find_layers("methods", method, config, "flickr8k")))
        found[method] = fit_settings({key: merged[key] for key in ("parameters", "training", "phases")}, pairs)
    return found


def _find_settings_file(file: str) -> str:
    """The file with VSE's settings on Flickr8k: one over the configuration, or else the method's own."""
    from densevse.config.resolved import holds

    values = overrides([str(ROOT / file)])[-1].values
    return (
        file if holds(values, ("methods", METHODS[0], "datasets", "flickr8k")) else f"config/methods/{METHODS[0]}.yaml"
    )


PAIRS, STEPS = 30_000, 400
"""Training pairs of Flickr8k, on which settings were chosen; and the fewest steps of a training, if epochs allow."""


def fit_settings(chosen: Mapping[str, Any], pairs: int) -> dict[str, Any]:
    """Settings for fewer training pairs: batches of at most an eighth of them, and epochs that make `STEPS` steps.

    The moving average of the weights covers the same share of the training as before.
    """
    training, pairs = {"batch_size": 128, **chosen.get("training", {})}, max(1, pairs)
    batch = max(8, min(training["batch_size"], pairs // 8))
    epochs = sum(phase.get("epochs", 0) for phase in chosen["phases"].values())
    more = max(1, round(STEPS * batch / (epochs * pairs)))
    if training.get("ema_decay"):
        shorter = PAIRS / training["batch_size"] / (more * pairs / batch)
        training["ema_decay"] = round(max(0.5, 1 - (1 - training["ema_decay"]) * shorter), 5)
    scaled = {
        name: {**phase, **{key: more * phase[key] for key in ("epochs",) if key in phase}}
        for name, phase in chosen["phases"].items()
    }
    return {**chosen, "training": {**training, "batch_size": batch}, "phases": scaled}


def _format_line(depth: int, key: str, value: Any, reason: str) -> str:
    """A line of YAML with its comment."""
    import yaml

    def flow(part: Any) -> str:
        text = yaml.safe_dump(part, default_flow_style=True, allow_unicode=True, sort_keys=False, width=1_000_000)
        return text.removesuffix("\n").removesuffix("...").strip()

    shown = f"{'  ' * depth}{flow(key)}:"
    if value is not BELOW:
        shown += f" {flow(value)}"
    return f"{shown}  # {_printable(reason)}\n" if reason else f"{shown}\n"


def _printable(text: str) -> str:
    """The text in one line, as a comment of YAML must be."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
