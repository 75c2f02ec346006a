"""Makes docs/tables/flickr30k_measured.md: the stages of Flickr30k's table on a few photographs, before and after.

    python -m tools.flickr30k_measured FOLDER train2017.zip ANNOTATIONS

takes 12 of the photographs of an archive of MS-COCO as a data set of one's own, with the networks and methods of
`results/tables/flickr30k.md`, and runs its table with the configuration as it is, and then with
examples/flickr30k_cheaper.yaml. Networks have random weights of the real shapes, which FOLDER keeps, and words are
learned; so what the table says means nothing. Each job's CPU seconds stand beside those that the plan counts for the
same amounts of work on this machine, as `densevse plan --measure` found it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from safetensors.torch import save_file
from torch import nn
from torchvision.models import get_model

from densevse.command.costs.jobs import Arithmetic
from densevse.command.costs.rates import Rates, known_rates, processor
from densevse.command.shared import ROOT, configured_project, make_targets, planned_jobs
from densevse.report.costs import finished_jobs
from densevse.vision.architectures.rcnn import RCNN
from tools.flickr30k_costs import CHEAPER, NAMES, TABLES

DATASET, SPLITS = "photographs", {"train": 8, "val": 2, "test": 2}
NETWORKS: Mapping[str, Callable[[], nn.Module]] = {
    "rcnn_ilsvrc13": lambda: RCNN().apply(_draw_weights),
    "vgg19": lambda: get_model("vgg19", weights=None),
    "alexnet": lambda: get_model("alexnet", weights=None),
    # Else each block doubles the variance of what it adds to, and features overflow.
    "resnet152": lambda: get_model("resnet152", weights=None, zero_init_residual=True),
}
Seconds = Mapping[tuple[str, str], tuple[float, float]]
"""(stage, of) -> planned seconds, and those of the processor."""


def _draw_weights(layer: nn.Module) -> None:
    if isinstance(layer, nn.Conv2d | nn.Linear):
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")


def write_weights(folder: Path) -> dict[str, str]:
    """Writes random weights of the networks that the folder lacks; returns network -> file."""
    files = {name: folder / f"{name}.safetensors" for name in NETWORKS}
    for name, file in files.items():
        if not file.is_file():
            save_file({key: value.contiguous() for key, value in NETWORKS[name]().state_dict().items()}, file)
    return {name: str(file) for name, file in files.items()}


def settings(folder: Path, images: str, annotations: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data set and its table; and what examples/flickr30k_cheaper.yaml needs beside it to change both."""
    flickr30k = configured_project([]).config.datasets["flickr30k"]
    cheaper = yaml.safe_load((ROOT / CHEAPER).read_text("utf-8"))
    measured = yaml.safe_load((ROOT / "config/tables/flickr30k.yaml").read_text("utf-8"))["measure"]
    files = write_weights(folder)
    entry = {
        "title": "Photographs of MS-COCO",
        "reader": "coco",
        "local": {"images": images, "annotations": annotations},
        "options": {"splits": SPLITS, "seed": 0},
        "networks": dict(flickr30k.networks),
        "word_vectors": None,
        "threads": 1,
    }
    learned = {"word_vectors": False, "parameters": {"word_vectors": "learned"}}
    plain = {
        "results": str(folder / "results"),
        "datasets": {DATASET: entry},
        "networks": {name: {"local": file} for name, file in files.items()},
        "methods": {"defrag": learned, "hm_lstm": learned},
        "tables": {DATASET: {"title": "Photographs", "sections": [{"dataset": DATASET}], "measure": measured}},
    }
    levers = {
        "networks": {name: {"local": files["vgg19"]} for name in cheaper["networks"]},
        "datasets": {DATASET: cheaper["datasets"]["flickr30k"]},
    }
    return plain, levers


def planned_seconds(files: list[str], target: str, rates: Rates) -> dict[str, tuple[tuple[str, str], float]]:
    """Job -> its (stage, of) and the seconds of the plan, 0 for one whose work is not known by arithmetic."""
    project = configured_project(files)
    arithmetic, found = Arithmetic(project), {}
    for job in planned_jobs([target], files, project.config.results):
        of = " ".join(filter(None, (job.wildcards.get(name) for name in NAMES)))
        named = {"round": "0", **job.wildcards} if job.stage == "train" else job.wildcards
        seconds = rates.seconds(arithmetic.job_work(job)) or 0.0
        found[job_name(job.stage, named.values())] = ((job.stage, of), seconds)
    return found


def job_name(stage: str, parts: Iterable[str]) -> str:
    """A job's stage and its wildcards in any order, as the name of its log has them."""
    words = (word for part in parts for word in re.split("[-_]", part))
    return " ".join([stage, *sorted(re.sub(r"^(seed|round)(?=\d)", "", word) for word in words)])


def measured_seconds(results: str) -> dict[str, float]:
    """Job -> the seconds of CPU that its log states."""
    rows = finished_jobs(results)
    logs = (Path(log) for log in rows["log"])
    return dict(zip((job_name(log.parent.name, [log.stem]) for log in logs), rows["processor"], strict=True))


def stage_seconds(planned: Mapping[str, tuple[tuple[str, str], float]], measured: Mapping[str, float]) -> Seconds:
    """(stage, of) -> planned and measured seconds of its jobs. Raises `KeyError` for a planned job without a log."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for name, (key, seconds) in planned.items():
        if seconds or name in measured:
            before = found.get(key, (0.0, 0.0))
            found[key] = (before[0] + seconds, before[1] + measured[name])
    return found


def table(before: Seconds, after: Seconds) -> str:
    """Both sides as Markdown: stages of a second and more, and the sum of all."""
    sums = [tuple(map(sum, zip(*side.values(), strict=True))) for side in (before, after)]
    rows = [(" | ".join(key), before.get(key), after.get(key)) for key in sorted({*before, *after})]
    shown = [row for row in rows if max(side[1] for side in row[1:] if side) >= LEAST]
    return "\n".join([HEAD, *(_row(*row) for row in [*shown, ("all | ", *sums)])])


def _row(name: str, *sides: tuple[float, float] | None) -> str:
    cells = [f"{_number(side[0])} | {side[1]:.1f} | {_ratio(side[1], side[0])}" if side else "| |" for side in sides]
    both = _ratio(sides[1][1], sides[0][1]) if all(sides) else ""
    return f"| {name} | {' | '.join(cells)} | {both} |"


def _number(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds else ""


def _ratio(seconds: float, of: float) -> str:
    return f"{seconds / of:.2f}" if of else ""


def measure(folder: Path, images: str, annotations: str) -> str:
    """Runs the table before and after, where only jobs with other inputs run again; returns the page."""
    rates, files = known_rates(), []
    for name, values in zip(("plain", "levers"), settings(folder, images, annotations), strict=True):
        files.append(str(folder / f"{name}.yaml"))
        Path(files[-1]).write_text(yaml.safe_dump(values), encoding="utf-8")
    results, sides = str(folder / "results"), (files[:1], [files[0], str(ROOT / CHEAPER), files[1]])
    target = f"{results}/tables/{DATASET}.md"
    _make(f"{results}/{DATASET}/images.parquet", sides[0])  # by whose sizes the plan counts
    planned = [planned_seconds(side, target, rates) for side in sides]
    found = []
    for side, jobs in zip(sides, planned, strict=True):
        _make(target, side)
        found.append(stage_seconds(jobs, measured_seconds(results)))
    return page(rates, *found)


def _make(target: str, files: list[str]) -> None:
    if not make_targets([target], files, "1"):
        sys.exit(f"{target} was not made; correct what Snakemake says and start again in an empty folder")


def page(rates: Rates, before: Seconds, after: Seconds) -> str:
    """The page."""
    of = f"Of one core of {processor()}; the plan's rates are of {rates.measured or 'the estimates'}."
    return f"# Flickr30k's stages on {sum(SPLITS.values())} photographs\n\n{SAID}\n{of}\n\n{table(before, after)}\n"


LEAST = 1.0
HEAD = (
    "| stage | of | before: planned, s | CPU, s | CPU / planned | after: planned, s | CPU, s | CPU / planned | "
    "after / before, CPU |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)
SAID = """Photographs of MS-COCO at their own size, as a data set of one's own, through the stages of
`results/tables/flickr30k.md`: *before* with the configuration as it is, *after* with
`examples/flickr30k_cheaper.yaml`. All networks have random weights of the real shapes. What has the same inputs is run
once for both."""

if __name__ == "__main__":
    kept, *given = sys.argv[1:]
    Path(kept).mkdir(parents=True, exist_ok=True)
    (TABLES / "flickr30k_measured.md").write_text(measure(Path(kept).resolve(), *given), encoding="utf-8")
