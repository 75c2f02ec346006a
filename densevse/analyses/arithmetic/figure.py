"""Draws vector arithmetic with images and words (Kiros et al. 2014, "Multimodal vector space arithmetic")."""

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.analyses.arithmetic.arithmetic import ARITHMETIC, NAMED
from densevse.artifacts import schema
from densevse.report.drawing import draw_picture
from densevse.report.pictures import Pixels, pictures
from densevse.report.saving import RIGHT_COLOUR, WRONG_COLOUR, save
from densevse.runtime.arrays import evenly_spaced

_QUERIES, _ANSWERS = 8, 4


def draw_arithmetic(
    found: str, image_table: str, sources: Sequence[str], source_names: Sequence[str], title: str, output: str
) -> None:
    """The job that draws queries of an ARITHMETIC artifact, one in each line: the named ones, else some evenly spaced.

    On the left are the best images of the arithmetic, on the right, as the paper's sanity check, those of the added
    word alone. Right ones have a green frame and wrong ones a red one, if that is known. `sources` are the data set's
    files in the order of their names.
    """
    rows = schema.read(found, ARITHMETIC)
    queries = [answers for _, answers in rows.groupby(["kind", "image_id", "minus", "plus"], sort=False)]
    named = [answers for answers in queries if answers["kind"].iloc[0] == NAMED]
    shown = named or [queries[number] for number in evenly_spaced(len(queries), _QUERIES)]
    picture = pictures(image_table, dict(zip(source_names, sources, strict=True)))
    figure = Figure(figsize=(1.7 * (2 + 2 * _ANSWERS), 2.1 * len(shown) + 0.8), layout="constrained")
    figure.suptitle(f"{title}: image - word + word, and the added word alone", parse_math=False)
    lines = figure.subplots(len(shown), 2 + 2 * _ANSWERS, squeeze=False)
    for line, answers in zip(lines, shown, strict=True):
        _draw(list(line), answers, picture)
    save(figure, output)


def _draw(line: list[Axes], answers: pd.DataFrame, picture: Callable[[str], Pixels]) -> None:
    """Draws one query: its image, the answers of the arithmetic and, after a gap, those of the word alone."""
    for place in line:
        place.set_axis_off()
    query = answers.iloc[0]
    draw_picture(line[0], picture(query["image_id"]))
    line[0].set_title(f"- {query['minus']} + {query['plus']}", fontsize=9, parse_math=False)
    line[2 + _ANSWERS].set_title(query["plus"], fontsize=9, parse_math=False)
    for start, by in ((1, "arithmetic"), (2 + _ANSWERS, "word")):
        best = answers[answers["by"] == by].head(_ANSWERS)
        for place, found, right in zip(line[start:], best["found"], best["right"], strict=False):
            draw_picture(place, picture(found))
            _frame(place, right)


def _frame(place: Axes, right: bool | None) -> None:
    """Draws a frame that shows whether an answer is right, if that is known."""
    if pd.isna(right):
        return
    place.set_axis_on()
    place.set_xticks([])
    place.set_yticks([])
    for side in place.spines.values():
        side.set_color(RIGHT_COLOUR if right else WRONG_COLOUR)
        side.set_linewidth(3)
