"""`densevse new`: looks at a person's files and writes the configuration that reads them.

The readers' recognisers are in densevse/datasets/own_files.py, and those of weights in densevse/command/weights.py.
"""

import csv
import re
import shlex
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from densevse.command.shared import ROOT, configuration, overrides
from snakeproof.errors import InputError

HELP = "look at your photographs and sentences, and write the configuration for them"
SENTENCES, NONE = "photographs with five sentences each", "photographs without sentences to train on"
"""What a person has, as config/starting_points.csv calls it."""
UNDERSTOOD = """a folder, zip or tar of photographs, alone (to search them) or with one of
  a table of pairs (.csv, .tsv, .jsonl, .parquet) with columns such as image and sentence
  MS-COCO's captions_*.json; Karpathy's dataset_*.json
  a folder with a token file (lines <photograph>#<number>, tab, sentence) and a list for each split
  a folder with a text file for each photograph
or, alone, a tar or a folder of tars of samples (<key>.jpg beside <key>.txt), a Parquet table with pictures in it, or
SCAN's folder of features. docs/data_sets.md describes them"""


class Found(NamedTuple):
    """A data set as its files are: the keys of its entry, and what they list."""

    entry: Mapping[str, Any]
    seen: str  # what its sentences are
    images: int
    splits: Mapping[str, int]
    sentences: int


Line = tuple[int, str, Any, str]
"""A line of the file: its depth, key, value (None for a key with others below it) and the reason for it."""


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files, the weights, and the file to write."""
    parser.add_argument("files", nargs="+", help="your photographs (a folder, zip or tar), and your sentences if any")
    parser.add_argument("--weights", metavar="FILE", help="the weights of a network of yours; else some are downloaded")
    parser.add_argument("--to", default="mine.yaml", metavar="FILE", help="the file to write (default: mine.yaml)")


def run(arguments: Namespace) -> int:
    """Writes the file, and prints what was seen and the next commands.

    Raises `InputError` for files that no reader reads, and if the file to write is there already.
    """
    config, target = configuration(overrides([])), Path(arguments.to)
    name = _check_name(target, config)
    for file in filter(None, [*arguments.files, arguments.weights]):
        if not Path(file).exists():
            raise InputError(f"{file} is not there; correct the path.")
    pictures = {file: names for file in arguments.files if (names := _picture_names(file))}
    found = _recognise(arguments.files, pictures)
    made = "search" if found is None else "tables"
    lines = [
        *(
            _search_lines(name, pictures, arguments.weights)
            if found is None
            else _dataset_lines(name, found, arguments.weights, config)
        )
    ]
    commands = [
        f"densevse plan results/{made}/{name}.md --configfile {shlex.quote(str(target))}",
        f"densevse run results/{made}/{name}.md --configfile {shlex.quote(str(target))} --cores 2",
        f"cat results/{made}/{name}.md",
    ]
    asked = f"densevse new {shlex.join(arguments.files)}"
    target.write_text(_document(target.name, asked, lines), encoding="utf-8")
    print(_describe_found(found, pictures))
    open_lines = [key for _, key, value, _ in lines if str(value).startswith("write ")]
    print(f"Wrote {target}, with a comment at each line.")
    if open_lines:
        print(
            f"First write {' and '.join(open_lines)} of your weights there: they are not known, and wrong ones go unseen."
        )
    print("Next:\n" + "\n".join(f"  {command}" for command in commands))
    return 0


def _check_name(target: Path, config: Any) -> str:
    """The name of the data set: that of the file. Raises `InputError` if the file is there, or the name is taken."""
    name = target.stem
    if target.exists():
        raise InputError(f"{target} is there already; name another file with --to, or remove it.")
    if not re.fullmatch(r"[A-Za-z]\w*", name) or target.suffix != ".yaml":
        raise InputError(f"--to: {target} must be called <name>.yaml, with letters, digits and _ in the name.")
    if name in {*config.datasets, *config.tables}:
        raise InputError(f"--to: {name} is a data set or table of the project; name another file.")
    return name


def _picture_names(file: str) -> list[str]:
    """The names of the pictures in a folder or archive."""
    from densevse.artifacts.archives import Archive
    from densevse.artifacts.images import SUFFIXES
    from densevse.datasets.layout import is_plain_file

    if is_plain_file(file):
        return []
    with Archive.open(file) as archive:
        return [name for name in archive.names() if PurePosixPath(name).suffix.lower() in SUFFIXES]


def _recognise(files: Sequence[str], pictures: Mapping[str, list[str]]) -> Found | None:
    """The data set that the files are; None for photographs alone. Raises `InputError` for any other files."""
    from densevse.datasets.own_files import recognise_files

    stems = {PurePosixPath(name).stem for names in pictures.values() for name in names}
    found = {file: recognise_files(file, stems) for file in files}
    several = [(file, reader, layout) for file, layouts in found.items() for reader, layout in layouts.items()]
    others = [file for file, layouts in found.items() if not layouts and file not in pictures]
    if others or len(several) > 1 or (not several and len(pictures) != 1):
        saw = [f"  {file}: {_describe_file(file, pictures.get(file, []))}" for file in files]
        saw += [f"  {file} may be {layout.seen}" for file, _, layout in several]
        raise InputError("not understood:\n" + "\n".join(saw) + f"\nUnderstood is {UNDERSTOOD}.")
    if not several:
        return None
    file, reader, layout = several[0]
    images = [one for one in pictures if one != file] or [file]
    if not layout.holds_pictures and (len(images) > 1 or not pictures):
        raise InputError(f"{file} is {layout.seen}; name the one folder, zip or tar with its photographs too.")
    local = {layout.source: file} if layout.holds_pictures else {"images": images[0], layout.source: file}
    return _list_files({"reader": reader, "local": local, "options": layout.options, **layout.entry}, layout.seen)


def _list_files(entry: Mapping[str, Any], seen: str) -> Found:
    """Reads the lists of a data set. Raises `InputError` if none of its photographs is there, or a split has none."""
    from densevse.artifacts.archives import Archive
    from densevse.config.datasets import Reading
    from densevse.config.readers import READERS
    from densevse.datasets.own_files import list_dataset
    from snakeproof.strict import validate

    reading = validate(Reading, {key: entry[key] for key in ("reader", "options")}, "the data set")
    images, captions = list_dataset(reading, entry["local"])
    if READERS[entry["reader"]].HAS_PICTURES:
        there = {source: Archive.open(path) for source, path in entry["local"].items() if source in {*images["source"]}}
        missing = [
            file for source, file in zip(images["source"], images["file"], strict=True) if file not in there[source]
        ]
        if missing:
            raise InputError(
                f"{len(missing):,} of {len(images):,} photographs of {seen} are not there, such as {missing[0]}; add "
                "them, or leave their rows out."
            )
    splits = Counter(images["split"])
    if empty := [split for split in ("train", "val", "test") if not splits[split]]:
        raise InputError(f"{seen}: no photograph is in the split {empty[0]}; each of train, val and test needs some.")
    return Found(entry, seen, len(images), splits, int(captions["image_id"].isin(images["image_id"]).sum()))


def _describe_file(file: str, pictures: Sequence[str]) -> str:
    """What is seen in a file or folder that no reader reads."""
    from densevse.artifacts.archives import Archive
    from densevse.datasets.layout import is_plain_file

    if is_plain_file(file):
        with open(file, "rb") as data:
            return f"a file that begins with {data.read(60).decode(errors='replace')!a}"
    with Archive.open(file) as archive:
        names = archive.names()
    others = sorted({*names} - {*pictures})[:3]
    return f"{len(names):,} files, {len(pictures):,} of them pictures" + (
        f", others {', '.join(others)}" if others else ""
    )


def _describe_found(found: Found | None, pictures: Mapping[str, list[str]]) -> str:
    if found is None:
        ((folder, names),) = pictures.items()
        return f"Seen: {len(names):,} photographs in {folder} and no sentences, so they are searched with CLIP."
    splits = ", ".join(f"{found.splits[split]:,} {split}" for split in found.splits)
    return f"Seen: {found.seen}.\n{found.images:,} photographs ({splits}), {found.sentences:,} sentences."


def _dataset_lines(name: str, found: Found, weights: str | None, config: Any) -> Iterator[Line]:
    """The lines for a data set: its entry, its network, settings for its number of pairs, and its table."""
    network, entry, reason = _choose_network(weights, config)
    has_pictures = "networks" not in found.entry
    row = _starting_row(SENTENCES, entry.get("architecture", network))
    yield 0, "datasets", None, ""
    yield 1, name, None, ""
    yield 2, "title", name, "its name in tables"
    yield 2, "reader", found.entry["reader"], f"reads {found.seen}"
    yield 2, "local", found.entry["local"], "your files; paths are from the folder where you type the commands"
    yield 2, "options", found.entry["options"], "of the reader; docs/data_sets.md#readers"
    yield 2, "about_images", found.images, "as counted now; for memory and time"
    if has_pictures:
        yield 2, "networks", {"whole": network}, "makes a vector of each photograph"
    for key in ("features", "networks") if not has_pictures else ():
        yield 2, key, found.entry[key], "features that were computed elsewhere; docs/features.md"
    yield 2, "word_vectors", None, "words are learned from your sentences of train"
    if has_pictures and entry:
        yield 0, "networks", None, ""
        yield 1, network, None, f"recognised {reason}"
        yield from ((2, key, value, _NETWORK_KEYS.get(key, "")) for key, value in entry.items())
    yield 0, "methods", None, f"settings chosen on Flickr8k ({row['configuration']}), changed for so few photographs"
    yield 1, "vse", None, "the first row to try: docs/results/start.md"
    pairs = found.sentences * found.splits["train"] // found.images
    settings = {method: fit_settings(_chosen_settings(method, row["configuration"]), pairs) for method in METHODS}
    yield from _settings_lines(2, name, settings["vse"])
    yield 2, "variants", None, ""
    yield 3, "vsepp", None, "VSE with the hardest negatives"
    yield from _settings_lines(4, name, settings["vsepp"])
    yield 0, "tables", None, ""
    table = {"title": name, "sections": [{"dataset": name}], "measure": [*METHODS]}
    yield 1, name, table, f"results/tables/{name}.md"


METHODS = ("vse", "vsepp")
_NETWORK_KEYS = {
    "local": "your weights",
    "architecture": "the network that they are of",
    "layers": "view: the layer that makes it",
    "size": "side of the square of pixels that it reads",
    "resize": "shorter side before a crop",
    "mean": "of red, green and blue from 0 to 1, which these weights expect",
    "std": "likewise",
    "classes": "its classes",
}


def _settings_lines(depth: int, name: str, settings: Mapping[str, Any]) -> Iterator[Line]:
    yield depth, "datasets", None, ""
    yield depth + 1, name, None, ""
    reasons = {"parameters": "of the model", "training": "few pairs want small batches", "phases": "and more epochs"}
    yield from ((depth + 2, key, settings[key], reasons[key]) for key in reasons if settings[key])


def _search_lines(name: str, pictures: Mapping[str, list[str]], weights: str | None) -> Iterator[Line]:
    """The lines for a search of photographs by CLIP."""
    row = _starting_row(NONE, "")
    if weights:
        yield 0, "networks", None, ""
        yield 1, row["network"], {"local": weights}, f"your weights, which must be of {row['network']}"
    yield 0, "searches", None, ""
    yield 1, name, None, f"results/search/{name}.md and .html"
    yield 2, "dataset", "flickr30k", "only its settings of the row are used; nothing of it is read"
    yield 2, "variant", row["method"], "without sentences, nothing is trained"
    yield 2, "photographs", next(iter(pictures)), "your photographs"
    yield 2, "sentences", ["a dog on the grass", "people at a table"], "what to search for: write your own"


def _choose_network(weights: str | None, config: Any) -> tuple[str, Mapping[str, Any], str]:
    """The name of a network, its entry, and how its weights were recognised."""
    from densevse.command.weights import recognise_weights

    return recognise_weights(weights, config.networks) if weights else ("mobilenet_v2", {}, "")


def _starting_row(data: str, network: str) -> Mapping[str, str]:
    """The row of config/starting_points.csv for what a person has and a network; else the first for the data."""
    with open(ROOT / "config/starting_points.csv", encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["data"] == data]
    return next((row for row in rows if row["network"] == network), rows[0])


def _chosen_settings(method: str, file: str) -> Mapping[str, Any]:
    """What a file of examples, or the method itself, changes of a method's own settings on Flickr8k."""
    from densevse.config.load import find_layers

    config = configuration(overrides([str(ROOT / file)]))
    layers = find_layers("methods", method, config, _EXAMPLE)
    return next(layer for place, layer in reversed(layers) if place.endswith(f".datasets.{_EXAMPLE}"))


_EXAMPLE, _PAIRS, _STEPS = "flickr8k", 30_000, 400
"""The data set on which settings were chosen, its training pairs, and the fewest steps that settings should have."""


def fit_settings(chosen: Mapping[str, Any], pairs: int) -> dict[str, Any]:
    """Settings for fewer training pairs: batches of at most an eighth of them, and more epochs, for `_STEPS` steps.

    The moving average of the weights covers the same share of the training as before.
    """
    training = {"batch_size": 128, **chosen.get("training", {})}
    batch = max(8, min(training["batch_size"], pairs // 8))
    epochs = sum(phase.get("epochs", 0) for phase in chosen["phases"].values())
    more = max(1, round(_STEPS / (epochs * max(1, pairs / batch))))
    phases = {
        name: {**phase, **({"epochs": phase["epochs"] * more} if "epochs" in phase else {})}
        for name, phase in chosen["phases"].items()
    }
    steps = _PAIRS / training["batch_size"], more * pairs / batch
    decay = training.get("ema_decay")
    own = {} if decay is None else {"ema_decay": round(max(0.5, 1 - (1 - decay) * steps[0] / steps[1]), 5)}
    return {**chosen, "training": {**training, "batch_size": batch, **own}, "phases": phases}


def _document(name: str, command: str, lines: Sequence[Line]) -> str:
    head = f"# {name}, written by `{command}`. Read it and change it; densevse checks it at each command.\n"
    return head + "".join(_format_line(*line) for line in lines)


def _format_line(depth: int, key: str, value: Any, reason: str) -> str:
    """A line of YAML with its comment; `word_vectors` alone has the value null."""
    import yaml

    flow = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=1_000_000)
    shown = "" if value is None and key != "word_vectors" else f" {flow.removesuffix('...' + chr(10)).strip()}"
    return f"{'  ' * depth}{key}:{shown}" + (f"  # {reason}" if reason else "") + "\n"
