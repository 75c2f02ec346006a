"""Draws the best sentences for the same images by several variants, side by side (SCO, Fig 4)."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.analyses.examples.examples import show, spaced
from densevse.artifacts import schema
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.report.pictures import pictures
from densevse.report.plan import PicturePlan
from densevse.report.saving import QUIET, RIGHT_COLOUR, save
from densevse.report.texts import shortened
from densevse.runtime.errors import InputError

_ANSWERS = 3


def compared_retrievals(
    retrievals: Sequence[str], images: str, captions: str, sources: dict[str, str], plan: PicturePlan, path: str
) -> None:
    """Draws test images, evenly spaced in the first fold, with each variant's three best sentences; right ones bold.

    `retrievals` are the RETRIEVAL artifacts of the plan, in any order, all of the same images. Raises `InputError` if
    one is missing or has other images.
    """
    index = ArtifactIndex(retrievals, RETRIEVAL)
    files = {one.title: index.path(one.of) for one in plan.shown}
    found = {}
    for name, file in files.items():
        rows = schema.read(file, RETRIEVAL)
        found[name] = rows[(rows["fold"] == 0) & (rows["direction"] == "i2t")].set_index("query_id")
    first = next(iter(found.values()))
    for name, rows in found.items():
        if not rows.index.equals(first.index):
            raise InputError(f"{files[name]}: its images are not those of {next(iter(files.values()))}.")
    texts = schema.read(captions, CAPTIONS).set_index("caption_id")["text"]
    picture = pictures(images, sources)
    asked = spaced(first).index
    figure = Figure(figsize=(4 + 5.5 * len(found), 2.6 * len(asked) + 0.6), layout="constrained")
    figure.suptitle(plan.title, parse_math=False)
    axes = figure.subplots(len(asked), 1 + len(found), squeeze=False, width_ratios=(2, *[4] * len(found)))
    for image, line in zip(asked, axes, strict=True):
        show(line[0], picture(str(image)), QUIET)
        for place, (name, rows) in zip(line[1:], found.items(), strict=True):
            row = rows.loc[image]
            _list(place, name, [texts[caption] for caption in row["top"][:_ANSWERS]], list(row["top_true"]))
    save(figure, path)


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
