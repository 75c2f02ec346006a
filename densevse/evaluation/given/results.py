"""Writes metrics as files: JSON that CLIP_benchmark and mteb read, and CSV, at full digits; and TREC's run files."""

import csv
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.evaluation.bootstrap import LIMITS
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.relevance import PERCENT, QUERIES_AT_ONCE
from densevse.evaluation.retrieval import Scorer
from snakeproof.errors import InputError
from snakeproof.files import atomic_file

RETRIEVED = {"i2t": "text_retrieval", "t2i": "image_retrieval"}
"""CLIP_benchmark's names of the directions. It names what is retrieved."""
COUNTS = ("queries", "ties", "images", "sentences", "folds", "questions")
"""The last words of the keys of `evaluate` that are numbers of things."""
_ENDS = ("_low", "_high")
ENGLISH = "eng-Latn"
RUN_DEPTH = 1000
"""The candidates of a query in a run file, as many as trec_eval reads."""


class EvaluatedModel(NamedTuple):
    """Names a measured model by the keys of CLIP_benchmark. A file of scores or vectors gives the model its name."""

    model: str
    pretrained: str = ""  # its weights
    dataset: str = ""
    language: str = ENGLISH  # of the sentences, by the codes of mteb: ISO 639-3 and ISO 15924


def write_csv(found: Mapping[str, float], path: str | Path) -> None:
    """Writes a row for each metric, with the columns metric, value, low and high, in the units of `evaluate`."""
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["metric", "value", "low", "high"])
        for name in _metric_names(found):
            rows.writerow([name, found[name], *(found.get(name + end, "") for end in _ENDS)])


def write_json(found: Mapping[str, float], path: str | Path, of: EvaluatedModel) -> None:
    """Writes one object with the keys that CLIP_benchmark reads, and those of a task's result of mteb.

    Shares are from 0 to 1 there. The ends of an unknown interval are null, as JSON has no NaN. mteb reads only parts
    with a language.
    """
    shares = {name: found[name] / 100 if _is_percent(name) else found[name] for name in _metric_names(found)}
    ranked = f"{DIRECTIONS[0]}_queries" in found
    parts = [_mteb_ranks(direction, shares) for direction in DIRECTIONS] if ranked else [_mteb_choices(shares)]
    document = {
        **of._asdict(),
        "task": "zeroshot_retrieval" if ranked else "image_caption_selection",
        "metrics": {_clip_benchmark_key(name): value for name, value in shares.items()},
        "task_name": of.dataset or of.model,
        "dataset_revision": "",
        "mteb_version": None,
        "evaluation_time": None,
        "scores": {"test": [{"languages": [of.language], **part} for part in parts]},
        "intervals": {
            key: _interval(name, found)
            for name in shares
            if name + "_low" in found
            for key in (name, _clip_benchmark_key(name))  # the names of `scores`, and those of `metrics`
        },
    }
    with atomic_file(path) as temporary:
        Path(temporary).write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def write_runs(
    scorers: tuple[Scorer, Scorer], image_ids: Sequence[str], caption_ids: Sequence[str], path: str | Path
) -> None:
    """Writes TREC's run files: of mine.run, mine.i2t.run where images ask, and mine.t2i.run where sentences ask.

    A line is a query, Q0, a candidate, its rank, its score, and a name of the run. Each query has its `RUN_DEPTH` best
    candidates. Of equal scores the earlier row comes first; a reader of runs sorts them by its own rule. Pairs without
    a score have no line. Raises `InputError` for an id with white space, which would be two fields.
    """
    images, captions = (np.asarray(ids, str) for ids in (image_ids, caption_ids))
    for some in (images, captions):
        split = next((one for one in some.tolist() if len(one.split()) != 1), None)
        if split is not None:
            raise InputError(
                f"--run: the id {split!r} is not one word, and a run's fields end at white space; rename it."
            )
    i2t, t2i = (scorer(np.arange(len(images)), np.arange(len(captions))) for scorer in scorers)
    every_image, every_caption = slice(0, len(images)), slice(0, len(captions))
    _write_run(lambda some: np.asarray(i2t(some, every_caption)), images, captions, _run_path(path, "i2t"))
    _write_run(lambda some: np.asarray(t2i(every_image, some)).T, captions, images, _run_path(path, "t2i"))


def _run_path(path: str | Path, direction: str) -> Path:
    return Path(path).with_suffix(f".{direction}{Path(path).suffix}")


def _write_run(
    scores_of: Callable[[slice], NDArray[Any]], queries: NDArray[Any], candidates: NDArray[Any], path: Path
) -> None:
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        for first in range(0, len(queries), QUERIES_AT_ONCE):
            some = slice(first, min(first + QUERIES_AT_ONCE, len(queries)))
            scores = scores_of(some)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :RUN_DEPTH]
            for query, order, row in zip(queries[some], best, scores, strict=True):
                lines = zip(candidates[order], row[order].tolist(), strict=True)
                file.writelines(
                    f"{query} Q0 {candidate} {rank} {score!r} densevse\n"
                    for rank, (candidate, score) in enumerate(lines, start=1)
                    if score != -math.inf
                )


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


def _mteb_ranks(direction: str, shares: Mapping[str, float]) -> dict[str, Any]:
    """The metrics of a direction, which is a subset of the task: the main one is nDCG@10, or else the first."""
    own = {name.removeprefix(f"{direction}_"): value for name, value in shares.items() if name.startswith(direction)}
    named = {f"hit_rate_at_{name[1:]}" if name[1:].isdigit() else name: value for name, value in own.items()}
    main = named.get("ndcg_at_10", next(iter(named.values())))
    return {"hf_subset": direction, "main_score": main, **named}


def _mteb_choices(shares: Mapping[str, float]) -> dict[str, Any]:
    """The metrics of choices by mteb's names; the main one is Winoground's both, or else the choice of sentences."""
    named = {"text_acc": shares.get("text", shares["choice"]), "image_acc": shares.get("image")}
    accuracy = shares.get("both", shares["choice"])
    own = {name: value for name, value in {**named, "accuracy": accuracy}.items() if value is not None}
    return {"hf_subset": "default", "main_score": accuracy, **own}
