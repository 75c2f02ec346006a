"""Writes metrics as files: JSON that CLIP_benchmark and mteb read, and CSV, at full digits."""

import csv
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from densevse.evaluation.bootstrap import LIMITS
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.relevance import PERCENT
from snakeproof.files import atomic_file

RETRIEVED = {"i2t": "text_retrieval", "t2i": "image_retrieval"}
"""CLIP_benchmark's names of the directions. It names what is retrieved."""
COUNTS = ("queries", "ties", "images", "sentences", "folds")
"""The last words of the keys of `evaluate` that are numbers of things."""
_ENDS = ("_low", "_high")


class EvaluatedModel(NamedTuple):
    """Names a measured model by the keys of CLIP_benchmark. A file of scores or vectors gives the model its name."""

    model: str
    pretrained: str = ""  # its weights
    dataset: str = ""


def write_csv(found: Mapping[str, float], path: str | Path) -> None:
    """Writes a row for each metric, with the columns metric, value, low and high, in the units of `evaluate`."""
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["metric", "value", "low", "high"])
        for name in _metric_names(found):
            rows.writerow([name, found[name], *(found.get(name + end, "") for end in _ENDS)])


def write_json(found: Mapping[str, float], path: str | Path, of: EvaluatedModel) -> None:
    """Writes one object with the keys that CLIP_benchmark reads, and those of a task's result of mteb.

    Shares are from 0 to 1 there. The ends of an unknown interval are null, as JSON has no NaN.
    """
    shares = {name: found[name] / 100 if _is_percent(name) else found[name] for name in _metric_names(found)}
    document = {
        **of._asdict(),
        "task": "zeroshot_retrieval",
        "metrics": {_clip_benchmark_key(name): value for name, value in shares.items()},
        "task_name": of.dataset or of.model,
        "dataset_revision": "",
        "mteb_version": None,
        "evaluation_time": None,
        "scores": {"test": [_mteb_scores(direction, shares) for direction in DIRECTIONS]},
        "intervals": {name: _interval(name, found) for name in shares if name + "_low" in found},
    }
    with atomic_file(path) as temporary:
        Path(temporary).write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def _metric_names(found: Mapping[str, float]) -> list[str]:
    return [name for name in found if not name.endswith(_ENDS)]


def _interval(name: str, found: Mapping[str, float]) -> list[float | None]:
    ends = (found[name + end] / (100 if _is_percent(name) else 1) for end in _ENDS)
    return [None if math.isnan(end) else end for end in ends]


def _is_percent(name: str) -> bool:
    return name.split("_")[-1] not in COUNTS and LIMITS.get(name, PERCENT) == PERCENT


def _clip_benchmark_key(name: str) -> str:
    direction, _, metric = name.partition("_")
    if direction not in DIRECTIONS:
        return name
    of_recall = f"recall@{metric[1:]}" if metric[1:].isdigit() else re.sub(r"_at_(\d+)$", r"@\1", metric)
    return f"{RETRIEVED[direction]}_{of_recall}"


def _mteb_scores(direction: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """The metrics of a direction, which is a subset of the task: the main one is nDCG@10, or else the first."""
    own = {name.removeprefix(f"{direction}_"): value for name, value in shares.items() if name.startswith(direction)}
    named = {f"hit_rate_at_{name[1:]}" if name[1:].isdigit() else name: value for name, value in own.items()}
    main = named.get("ndcg_at_10", next(iter(named.values())))
    return {"hf_subset": direction, "languages": [], "main_score": main, **named}
