"""A table of metrics of generated sentences, of published rows and our own, and a picture of the sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from densevse.analyses.caption_scores.settings import CaptionTablePlan
from densevse.artifacts.identity import Identity
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.captions import ALL, CAPTION_SCORES, CAPTION_TABLE, GENERATED, ORDERS, OTHER_REFERENCES
from densevse.report.columns import METHOD
from densevse.report.figures import QUIET, draw_picture, save_figure, shorten_text
from densevse.report.pictures import pictures
from densevse.report.plan import PicturePlan
from densevse.report.published import any_text, number_or_none, read_rows, required_text
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number_cell, range_cell
from densevse.report.results import Outputs, write_table
from densevse.runtime.arrays import Reals, spaced_indices
from densevse.statistics.bootstrap import TOO_FEW
from densevse.statistics.intervals import Replicates, SumBootstrap, Sums
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.strict import validate

HEADINGS = {
    ALL: "Against all sentences of an image",
    OTHER_REFERENCES: "Against the sentences of an image without its first",
}
JAVA = {"meteor": "METEOR", "spice": "SPICE"}
SMALL, TINY = 1e-9, 1e-15  # pycocoevalcap's, against divisions by zero
_LINES, _BESIDE = 4, 2  # rows and columns of pictures
_WIDTH, _LONGEST = 62, 124  # characters of a line, and of a sentence
_PICTURE, _WRITER = 3, 0.6  # inches: the least height of a picture, and the height of a writer's name and two lines


def bleu_suffix(cell: str) -> str:
    """The suffix of the names of BLEU's columns, by a cell that says `with` or `without` (the brevity penalty)."""
    endings = {"with": "", "without": "_without_penalty"}
    if cell not in endings:
        raise ValueError("says neither with nor without (the brevity penalty)")
    return endings[cell]


PRINTED = (*(f"bleu_{n}" for n in ORDERS), "meteor", "rouge_l", "cider", "spice")
PUBLISHED_CAPTIONS = {
    "method": required_text,
    "source": any_text,
    "bleu": bleu_suffix,
    **dict.fromkeys(PRINTED, number_or_none),
}
PUBLISHED_CAPTIONS |= {"note": any_text}
"""The columns of published/<data set>.csv."""

_NOTES = [
    "BLEU, ROUGE-L, CIDEr, METEOR and SPICE by pycocoevalcap, in percent; sentences in lower case and without "
    "punctuation, cut by NLTK nearly as by the package's own tokenizer (of 35,000 sentences of Flickr8k 5 differ, of "
    "25,014 of MS-COCO's val2017 23, and of 145,000 of multi30k's training 61). BLEU and METEOR are computed over all "
    "sentences together.",
    "BLEU without the brevity penalty is what papers before MS-COCO's server often print.",
    "New: sentences that do not occur word for word in training. Words: the number of distinct words in all "
    "sentences. Length: words in a sentence.",
    "95% intervals: a bootstrap over the images (in families, where there are such), with the references and CIDEr's "
    f"document frequencies as they are; with several seeds also over these. {TOO_FEW}",
    "Gain: CIDEr minus that of {reference}, on the same draws.",
    "A person's sentence is the first of an image, compared with its others.",
]
_ONE_IMAGE = "CIDEr is 0 for a single image: it weighs words by the images whose sentences have them, and all have all."


def make_caption_table(
    scores: Sequence[str], plan: Mapping[str, Any], published: str | None = None, **outputs: str
) -> None:
    """The job that makes the table from CAPTION_SCORES artifacts, in any order.

    `plan` is a `CaptionTablePlan`, and `outputs` are `Outputs`; `published` is the data set's CSV of published figures,
    if there is one. Raises `InputError` if the scores of a writer are missing.
    """
    planned = validate(CaptionTablePlan, plan, "the plan of the table")
    index = ArtifactIndex(scores, CAPTION_SCORES)
    runs = {name: _runs(planned, name, index) for name in planned.writers}
    records = _published_records(published) if published else []
    for references in HEADINGS:
        records += _writer_records(planned, runs, references)
    frame = pd.DataFrame(records, columns=[column.name for column in CAPTION_TABLE.columns])
    reference = planned.writers[planned.reference].title
    sheets = [_sheet(frame[frame["references"] == name], heading) for name, heading in HEADINGS.items()]
    notes = [note.format(reference=reference) for note in _NOTES] + list(_missing_notes(planned, frame))
    notes += [_ONE_IMAGE] * any(run["image_id"].nunique() == 1 for of_writer in runs.values() for run in of_writer)
    notes += [f"{row['method']} ({row['source']}): {row['note']}." for _, row in frame.iterrows() if row["note"]]
    write_table(frame, CAPTION_TABLE, Document(planned.title, sheets, notes), Outputs(**outputs))


def _runs(plan: CaptionTablePlan, writer: str, scores: ArtifactIndex) -> list[pd.DataFrame]:
    """The CAPTION_SCORES of a writer, of each seed."""
    seeds = plan.writers[writer].seeds
    return [
        schema.read(scores.path(Identity(plan.dataset, writer, n, split=plan.split)), CAPTION_SCORES) for n in seeds
    ]


def drawn_metrics(rows: pd.DataFrame, sums: Sums) -> dict[str, Reals]:
    """The metrics of CAPTION_SCORES for one set of references, from sums over images; shares are in percent.

    `sums` are those of a `SumBootstrap` of the images.
    """
    guessed = [sums(rows[f"guessed_{n}"]) for n in ORDERS]
    correct = [sums(rows[f"correct_{n}"]) for n in ORDERS]
    length, images = sums(rows["words"].str.len()), sums(np.ones(len(rows)))
    metrics = bleu(correct, guessed, length, sums(rows["reference_length"]))
    metrics |= {name: sums(rows[name]) / images for name in ("rouge_l", "cider", "spice")}
    metrics["new"] = sums(~rows["in_training"]) / images
    return {**{name: 100 * values for name, values in metrics.items()}, "length": length / images}


def bleu(
    correct: Sequence[Reals], guessed: Sequence[Reals], length: Reals, reference_length: Reals
) -> dict[str, Reals]:
    """BLEU-1 to 4 (Papineni et al. 2002) from summed counts of any shape, with the brevity penalty and without.

    `correct` and `guessed` hold one array for each n.
    """
    ratio = (length + TINY) / (reference_length + SMALL)
    penalty = np.exp(np.minimum(0, 1 - 1 / ratio))
    metrics, product = {}, np.ones_like(length)
    for n, of_order, all_of_order in zip(ORDERS, correct, guessed, strict=True):
        product = product * (of_order + TINY) / (all_of_order + SMALL)
        metrics[f"bleu_{n}_without_penalty"] = product ** (1 / n)
        metrics[f"bleu_{n}"] = product ** (1 / n) * penalty
    return metrics


def _writer_records(
    plan: CaptionTablePlan, runs: Mapping[str, Sequence[pd.DataFrame]], references: str
) -> Iterator[dict[str, Any]]:
    """The rows of CAPTION_TABLE of all writers against one set of references, of which a person's needs the others."""
    runs = {
        name: [run[run["references"] == references].reset_index(drop=True) for run in of_writer]
        for name, of_writer in runs.items()
        if references == OTHER_REFERENCES or name != "person"
    }
    check_images([run for some in runs.values() for run in some])
    bootstrap = SumBootstrap(runs[plan.reference][0]["family"])
    found = {name: bootstrap.replicates(some, drawn_metrics) for name, some in runs.items()}
    for name, of_writer in runs.items():
        writer = {"references": references, "generator": name, "method": plan.writers[name].title}
        row = {**writer, "source": named_seeds(plan.writers[name].seeds), **_record(bootstrap, found[name], of_writer)}
        if name != plan.reference:
            interval = bootstrap.difference("cider", found[name], found[plan.reference])
            gain = row["cider"] - float(found[plan.reference].by_seed["cider"].mean())
            row |= {"gain": gain, "gain_low": interval.low, "gain_high": interval.high}
        yield row


def check_images(runs: Sequence[pd.DataFrame]) -> None:
    """Raises `InputError` if sentences are about other images than those of the first run."""
    if any(run["image_id"].tolist() != runs[0]["image_id"].tolist() for run in runs):
        raise InputError(
            "the sentences of two rows of the table are about other images: delete "
            "results/<data set>/generated_captions and run snakemake again."
        )


def _record(bootstrap: SumBootstrap, found: Replicates, runs: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """The metrics of a writer, with their intervals, as in a row of CAPTION_TABLE."""
    intervals = {name: bootstrap.interval(name, found) for name in found.drawn}
    meteor = [run["meteor_of_all"].iloc[0] for run in runs]
    return {
        **{str(name): float(values.mean()) for name, values in found.by_seed.items()},
        **{f"{name}_low": interval.low for name, interval in intervals.items()},
        **{f"{name}_high": interval.high for name, interval in intervals.items()},
        "meteor": None if any(map(pd.isna, meteor)) else 100 * float(np.mean(meteor)),
        "vocabulary": float(np.mean([len({word for words in run["words"] for word in words}) for run in runs])),
        "seeds": len(runs),
        "note": "",
    }


def _published_records(file: str) -> list[dict[str, Any]]:
    found = []
    for row in read_rows(file, PUBLISHED_CAPTIONS):
        ending = row.pop("bleu")
        bleus = {f"bleu_{n}{ending}": row.pop(f"bleu_{n}") for n in ORDERS}
        found.append({"references": ALL, **row, **bleus, "generator": "", "seeds": 0})
    return found


def _missing_notes(plan: CaptionTablePlan, frame: pd.DataFrame) -> Iterator[str]:
    """The reasons for missing metrics."""
    ours = frame[frame["seeds"] > 0]
    for name in JAVA:
        if ours[name].isna().all():
            needed = "Java and Maven" if name == "spice" else "Java"
            lacking = f"it needs {needed}, which the measuring machine lacked"
            yield f"{JAVA[name]} is missing: {lacking if name in plan.metrics else 'it is not asked for'}."


def _sheet(rows: pd.DataFrame, heading: str) -> Sheet:
    columns = [
        METHOD,
        TableColumn("Source", number=False, cell=itemgetter("source")),
        *(_metric(str(n), f"bleu_{n}", "BLEU", "BLEU") for n in ORDERS),
        TableColumn("95%", "BLEU", cell=range_cell("bleu_4")),
        *(_metric(str(n), f"bleu_{n}_without_penalty", "BLEU without brevity penalty", "unpenalised") for n in ORDERS),
        _metric("METEOR", "meteor"),
        _metric("ROUGE-L", "rouge_l"),
        _metric("CIDEr", "cider", "CIDEr"),
        TableColumn("95%", "CIDEr", cell=range_cell("cider")),
        TableColumn("Gain", "CIDEr", cell=difference_cell("gain")),
        _metric("SPICE", "spice"),
        TableColumn("New", cell=number_cell("new")),
        TableColumn("Words", cell=lambda row: "" if pd.isna(row["vocabulary"]) else f"{row['vocabulary']:,.0f}"),
        TableColumn("Length", cell=number_cell("length")),
    ]
    records = rows.to_dict("records")
    # A column of a missing metric takes room, and the notes say that it is missing.
    kept = [one for one in columns if one.header not in JAVA.values() or any(map(one.cell, records))]
    return Sheet.from_rows(heading, kept, records)


def _metric(header: str, name: str, group: str = "", short: str = "") -> TableColumn:
    return TableColumn(header, group, short, best="highest", cell=number_cell(name))


def difference_cell(name: str) -> Callable[[Any], str]:
    """Prints a gain or a lead of a row with its interval; nothing if the row has none."""
    gain, ends = number_cell(name, "+"), range_cell(name, "+")
    return lambda row: "" if pd.isna(row[name]) else f"{gain(row)} ({ends(row)})"


def draw_captions(
    generated: Sequence[str],
    image_table: str,
    sources: Mapping[str, str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws images, evenly spaced among those with sentences, with the first sentence of each writer.

    `generated` are the GENERATED artifacts of `plan` (the values of a `PicturePlan`), in any order, all about the same
    split; `sources` are the data set's files. A sentence that occurs word for word in training is in italics. Raises
    `InputError` if an artifact is missing.
    """
    planned, index = validate(PicturePlan, plan, "the plan of the picture"), ArtifactIndex(generated, GENERATED)
    found = {title: _top_sentences(index.path(of)) for title, of in planned.shown.items()}
    about = next(iter(found.values())).index
    chosen = about[spaced_indices(len(about), _LINES * _BESIDE)]
    picture = pictures(image_table, sources)
    figure = Figure(figsize=(8 * _BESIDE, max(_PICTURE, _WRITER * len(found)) * _LINES), layout="constrained")
    figure.suptitle(planned.title, parse_math=False)
    axes = figure.subplots(_LINES, 2 * _BESIDE, squeeze=False, width_ratios=[1, 1.7] * _BESIDE)
    for place in axes.ravel():
        place.axis("off")
    for image, (left, right) in zip(chosen, axes.reshape(-1, 2), strict=False):
        draw_picture(left, picture(str(image)))
        _draw_sentences(right, {name: rows.loc[image] for name, rows in found.items() if image in rows.index})
    save_figure(
        figure, output, "The first sentence of each writer. Italics: it occurs word for word in the training sentences."
    )


def _top_sentences(file: str) -> pd.DataFrame:
    """The first sentence about each image."""
    rows = schema.read(file, GENERATED, ["image_id", "rank", "sentence", "in_training"])
    return rows[rows["rank"] == 1].set_index("image_id")


def _draw_sentences(axes: Axes, sentences: Mapping[str, pd.Series]) -> None:
    for line, (name, row) in enumerate(sentences.items()):
        height = 0.99 - line / len(sentences)
        style: dict[str, Any] = {"fontsize": 9, "va": "top", "transform": axes.transAxes, "parse_math": False}
        axes.text(0, height, shorten_text(name, _WIDTH), color=QUIET, **style)
        sentence = fill(shorten_text(row["sentence"], _LONGEST), _WIDTH)
        axes.text(0, height - 0.07, sentence, fontstyle="italic" if row["in_training"] else "normal", **style)
