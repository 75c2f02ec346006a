"""The head of a model's card: YAML that the Hugging Face Hub reads and shows beside the card."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from densevse.exchange.records import ModelName
from densevse.report.columns import RETRIEVAL_METRICS, TOTALS
from densevse.report.sections import Row

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
