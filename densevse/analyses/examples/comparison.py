"""Draws the best sentences for the same images by several variants, side by side (SCO, Fig 4)."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.analyses.examples.examples import show, spaced
from densevse.artifacts import schema
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.validation import validate
from densevse.report.pictures import pictures
from densevse.report.plan import PicturePlan
from densevse.report.saving import QUIET, RIGHT_COLOUR, save
from densevse.report.texts import shortened
from densevse.runtime.errors import InputError

_ANSWERS = 3


def draw_comparison(
    retrievals: Sequence[str],
    image_table: str,
    caption_table: str,
    sources: Sequence[str],
    source_names: Sequence[str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws test images, evenly spaced in the first fold, with the best sentences of several variants.

    Each has three, with right ones in bold. `retrievals` are the RETRIEVAL artifacts of `plan` (the values of a
    `PicturePlan`), in any order, all of the same images. Raises `InputError` if one is missing or has other images.
    """
    planned, index = validate(PicturePlan, plan, "the plan of the picture"), ArtifactIndex(retrievals, RETRIEVAL)
    files = {one.title: index.path(one.of) for one in planned.shown}
    found = {}
    for name, file in files.items():
        rows = schema.read(file, RETRIEVAL)
        found[name] = rows[(rows["fold"] == 0) & (rows["direction"] == "i2t")].set_index("query_id")
    first = next(iter(found.values()))
    for name, rows in found.items():
        if not rows.index.equals(first.index):
            raise InputError(f"{files[name]}: its images are not those of {next(iter(files.values()))}.")
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(image_table, dict(zip(source_names, sources, strict=True)))
    asked = spaced(first).index
    figure = Figure(figsize=(4 + 5.5 * len(found), 2.6 * len(asked) + 0.6), layout="constrained")
    figure.suptitle(planned.title, parse_math=False)
    axes = figure.subplots(len(asked), 1 + len(found), squeeze=False, width_ratios=(2, *[4] * len(found)))
    for image, line in zip(asked, axes, strict=True):
        show(line[0], picture(str(image)), QUIET)
        for place, (name, rows) in zip(line[1:], found.items(), strict=True):
            row = rows.loc[image]
            _list(place, name, [texts[caption] for caption in row["top"][:_ANSWERS]], list(row["top_true"]))
    save(figure, output)


def _list(axes: Axes, name: str, sentences: list[str], right: list[bool]) -> None:
    axes.axis("off")
    axes.set_title(name, loc="left", fontsize=10, parse_math=False)
    for number, (sentence, true) in enumerate(zip(sentences, right, strict=False)):
        axes.text(
            0,
            0.8 - 0.3 * number,
            shortened(f"{number + 1}. {sentence}", 72),
            color=RIGHT_COLOUR if true else QUIET,
            weight="bold" if true else "normal",
            fontsize=9,
            va="center",
            parse_math=False,
        )
