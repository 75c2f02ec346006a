"""The notes below a table of results: how to read it, differences from the papers, and how it was made."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from densevse.artifacts.families import copies
from densevse.evaluation.protocols import MOST, join_folds
from densevse.evaluation.recall import failures
from densevse.report.made_with import choices, descriptions, is_exact
from densevse.report.plan import SectionPlan, TablePlan
from densevse.report.published import Paper, PublishedRow
from densevse.report.rendering import Document, Sheet, TableColumn, count_range, named_seeds
from densevse.report.sections import MeasuredSection
from densevse.runtime.arrays import Indices
from densevse.statistics.bootstrap import TOO_FEW
from snakeproof.statements import Statement, ancestors, current_statement

COMPUTED = "Random is the expected result of ranking by chance on these images and sentences, by formula."
RANKS = (
    "Rank: 1 + the wrong candidates that score at least as high as the best true one, so a tie is never a hit. "
    "Metrics are means over seeds."
)
TIES = f"{RANKS} ± is the standard deviation of rsum over several seeds."
INTERVALS = (
    "95% intervals: a bootstrap over the test images, each with its sentences (in families, where a data set has "
    "such), so they cover which queries were asked; with two or more seeds they also cover the seed of training, by "
    "Student's distribution. They do not cover another set of candidates, another training set or other settings. "
    f"{TOO_FEW}"
)
JUDGED = "A gain is called better or worse only if its interval excludes 0; a gain of one seed is marked."
_GAIN = (
    "Gain is our rsum minus that of our {reference}, with a paired interval: both are computed on the same drawn "
    f"images. {JUDGED}"
)
DIFFERENCE = (
    "Ours is beside the published row of the same method; Difference is ours minus the published row, summed over the "
    "recalls that it prints. An empty cell was not printed, or is not measured here."
)
CHANGED = (
    "Settings changed for a data set are listed at the end, each beside the method's own. `densevse show <variant>` "
    "says which of these are the paper's and which were chosen."
)
CHANGED_COLUMNS = tuple(TableColumn(name, number=False) for name in ("Setting", "Here", "The method's own", "Variants"))
EXACT = "Exact: every x86-64 processor with AVX2 computes these numbers."
REGIONS = (
    "i2t: a region asks for its phrases among all phrases; t2i: a phrase asks for its region among all. "
    "A region is the box around everything that a phrase names; phrases are the parser's noun phrases with a true box."
)


def footnotes(
    plan: TablePlan,
    sections: Sequence[MeasuredSection],
    published: Iterable[tuple[MeasuredSection, PublishedRow]],
    papers: Mapping[str, Paper],
) -> list[str]:
    """The footnotes of a table. `published` are its published rows, each with its section."""
    shown = list(published)
    cited = [paper for key, paper in papers.items() if any(row.paper == key for _, row in shown)]
    found = [
        *reading_notes(sections, plan.reference),
        *([DIFFERENCE] if cited else []),
        *_missing_difference_notes(shown),
        *([REGIONS] if any(section.plan.protocol == "regions" for section in sections) else []),
        *_data_notes(sections),
        *(f"{row.method} ({papers[row.paper].name}): {row.note}." for _, row in shown if row.note),
        *(f"{paper.name}: {paper.title}. Published with {paper.used}." for paper in cited),
        *making_notes(sections),
    ]
    return list(dict.fromkeys(found))  # a note that holds for several sections appears once


def reading_notes(sections: Sequence[MeasuredSection], reference: str | None) -> list[str]:
    """Notes on reading our metrics; empty if nothing was measured."""
    titles = {name: entry.title for section in sections for name, entry in section.plan.measured.items()}
    if not titles:
        return []
    return [COMPUTED, TIES, INTERVALS, *([_GAIN.format(reference=titles[reference])] if reference in titles else [])]


def making_notes(sections: Sequence[MeasuredSection]) -> list[str]:
    """Networks, words, seeds, devices, configuration and versions."""
    made = [one for section in sections for of_row in section.statements.values() for one in of_row]
    return [
        *(note for section in sections for note in _choice_notes(section)),
        *([CHANGED] if changed_settings(section.plan for section in sections) else []),
        *_seed_notes(sections),
        *_exact_notes(made),
        *_device_notes(made),
        *_precision_notes(made),
        *_cut_notes(sections),
        *adopted_notes([one for section in sections for one in section.statements.items()]),
        f"Config {settings_digest(made)}. Versions: {_versions(made)}.",
    ]


def adopted_notes(rows: Iterable[tuple[str, Sequence[Statement]]]) -> list[str]:
    """Names the rows, given as (variant, statements), that rest on adopted files, and what was not compared of them."""
    uncompared = {row: _uncompared_parts(statements) for row, statements in rows}
    resting = [row for row, found in uncompared.items() if found]
    if not resting:
        return []
    return [
        f"Rows that rest on files of other code or of an earlier version, which were adopted (densevse adopt): "
        f"{', '.join(resting)}. {_AGREE} {', '.join(sorted(set.union(*uncompared.values())))}."
    ]


def adopted_note(made: Statement) -> list[str]:
    """Says that a file was made from adopted ones, and what was not compared of them."""
    found = sorted(_uncompared_parts([made]))
    said = "Made from files of other code or of an earlier version, which were adopted (densevse adopt)."
    return [f"{said} {_AGREE} {', '.join(found)}."] if found else []


def add_adopted_note(shown: Document) -> Document:
    """A document that says if the job in progress reads adopted files, unless it says of which rows."""
    if any("densevse adopt" in note for note in shown.notes):
        return shown
    return replace(shown, notes=[*shown.notes, *adopted_note(current_statement({}))])


_AGREE = "Their settings and inputs agree with today's; not compared:"


def _uncompared_parts(statements: Iterable[Statement]) -> set[str]:
    """The parts of adopted files that were not compared, among these files and all that they were made from."""
    marks = [one.adopted for made in statements for one in (made, *ancestors(made))]
    return {what for mark in marks for each in mark.values() for what in each}


def changed_settings(sections: Iterable[SectionPlan]) -> list[Sheet]:
    """The settings of variants that differ from their methods' own, once for sections of one data set."""
    found: list[Sheet] = []
    for section in sections:
        found += [sheet for sheet in _changed_settings(section) if sheet not in found]
    return found


def _changed_settings(section: SectionPlan) -> list[Sheet]:
    """One row for each setting and value."""
    changes: dict[str, dict[tuple[str, str], list[str]]] = {}
    for variant, entry in section.measured.items():
        for setting, found in entry.changed.items():
            values = (_format_setting(found.here), _format_setting(found.own))
            changes.setdefault(setting, {}).setdefault(values, []).append(variant)
    heading = f"{section.title}: settings changed for this data set"
    rows = [
        [setting, *values, ", ".join(variants)]
        for setting, by_values in changes.items()
        for values, variants in by_values.items()
    ]
    return [Sheet(heading, CHANGED_COLUMNS, rows)] if rows else []


def _missing_difference_notes(shown: Iterable[tuple[MeasuredSection, PublishedRow]]) -> list[str]:
    """The reasons why a published row has no Difference although ours is beside it."""
    beside = [(of, row) for of, row in shown if row.variant in {"random", *of.plan.measured} and of.folds]
    return [why for of, row in beside for why in _explain_missing_difference(of, row)]


def _explain_missing_difference(section: MeasuredSection, row: PublishedRow) -> list[str]:
    title, ranked = section.plan.title, f"{section.fold_size:,}"
    if row.dataset != section.plan.dataset:
        return [f"{title}: {ranked} regions; the papers' are others, so no Difference is printed."]
    if not section.has_same_size(row):
        return [
            f"{title}: {ranked} images are ranked here and {row.images:,} in the papers, so no Difference is printed."
        ]
    return [
        f"{title}: {path} is {_format_setting(found.here)} here and {_format_setting(found.own)} in config/datasets, "
        "so no Difference is printed where it is used."
        for path, found in section.replaced_settings(row).items()
    ]


def _data_notes(sections: Sequence[MeasuredSection]) -> list[str]:
    """The data of training and ranking, with the protocols if it differs between those of one data set."""
    protocols: dict[tuple[str, str], list[str]] = {}
    for section in sections:
        for note in _section_data_notes(section):
            protocols.setdefault((section.plan.title, note), []).append(section.plan.protocol)
    of_title = Counter(section.plan.title for section in sections)
    return [
        f"{', '.join([title, *(named if len(named) < of_title[title] else [])])}: {note}"
        for (title, note), named in protocols.items()
    ]


def _section_data_notes(section: MeasuredSection) -> list[str]:
    """The numbers of images in training and ranking, and of those left out."""
    images, dataset = section.images, section.plan.dataset
    if section.plan.protocol == "regions" and not section.folds:
        return [f"to measure regions and phrases, name their true boxes as datasets.{dataset}.boxes."]
    if images is None:
        return []
    readable = images["status"] == "ok"
    train, test = images["split"] == "train", images["split"] == "test"
    ranked = join_folds(section.folds).images
    silent = len(np.setdiff1d(ranked, section.test_set.image_of_caption))
    unreadable = int((test & ~readable).sum())
    found = [f"{int((train & readable).sum()):,} training images that can be read; {len(ranked):,} ranked."]
    found += [f"{silent:,} test images have no sentence: they are candidates but not queries."] * bool(silent)
    found += _left_out_notes(section, ranked)
    found += [f"{section.empty:,} sentences of the data set are empty, and kept."] * bool(section.empty)
    found += _uneven_notes(section)
    found += [
        f"{int((test & readable).sum()):,} of {int(test.sum()):,} images of the test split can be read; the others are "
        "left out."
    ] * bool(unreadable)
    return [*found, *_copy_notes(images), *_chance_notes(section), _tie_note(section)]


def _uneven_notes(section: MeasuredSection) -> list[str]:
    """The numbers of ranked sentences of an image, if they differ by more than a factor of two."""
    counts = np.unique(section.test_set.image_of_caption[join_folds(section.folds).captions], return_counts=True)[1]
    if counts.max() <= 2 * counts.min():
        return []
    return [
        f"a ranked image has {counts.min()} to {counts.max():,} sentences; the one with the most asks "
        f"{counts.max() / counts.sum():.0%} of the queries of t2i."
    ]


def _chance_notes(section: MeasuredSection) -> list[str]:
    """The rows that saw or learned nothing."""
    names: dict[str, dict[str, None]] = {}
    for one in section.measured:
        for failure in (each for rows in one.retrievals.values() for each in failures(rows, section.test_set)):
            names.setdefault(failure, {})[one.variant] = None
    return [f"{', '.join(variants)}: {failure}" for failure, variants in names.items()]


def _left_out_notes(section: MeasuredSection, ranked: Indices) -> list[str]:
    """The ranked sentences, if not all are ranked."""
    if section.plan.sentences == "all" or section.images is None:
        return []
    counts = section.images.set_index("image_id")["captions"].reindex(section.test_set.image_ids[ranked])
    left_out = int((counts - MOST[section.plan.sentences]).clip(0).sum())
    return [
        "the first five sentences of each image are ranked, as VSE++, SCAN and ECCV Caption do; "
        f"{left_out:,} others of these images are not."
    ]


def _tie_note(section: MeasuredSection) -> str:
    """The numbers of queries with a tie, over all seeds."""
    found = []
    for one in section.measured:
        tied, asked = (sum(map(count, one.retrievals.values())) for count in (_count_ties, len))
        found += [f"{one.variant} {tied:,} of {asked:,}"] if tied else []
    return f"queries with a tie: {', '.join(found) or 'none'}."


def _count_ties(retrieval: pd.DataFrame) -> int:
    return int(retrieval["tied"].sum())


def _copy_notes(images: pd.DataFrame) -> list[str]:
    """The number of images that are the same file as others, which makes metrics too good or too bad."""
    found = {(split, of): len(copies(images, split, of)) for split in ("val", "test") for of in ("train", split)}
    return [
        f"{number:,} images of {split} are the same files as {'others of it' if split == of else f'images of {of}'}."
        for (split, of), number in found.items()
        if number
    ]


def _choice_notes(section: MeasuredSection) -> list[str]:
    """The networks and words of a section's rows, with the variants if these differ."""
    if not section.statements:
        return []
    chosen = {variant: choices(statements) for variant, statements in section.statements.items()}
    parts = [*_format_choices(chosen), *descriptions(section.statements.values())]
    return [f"{section.plan.title}, ours: {'; '.join(parts)}."] if parts else []


def _format_choices(choices: Mapping[str, Mapping[str, str]]) -> list[str]:
    """`<what>: <choice>`, with the variants in brackets unless all that have a choice have the same one."""
    chosen: dict[str, dict[str, list[str]]] = {}
    for variant, of in choices.items():
        for what, choice in of.items():
            chosen.setdefault(what, {}).setdefault(choice, []).append(variant)
    return [
        f"{what}: "
        + ", ".join(f"{choice} ({', '.join(names)})" if len(of) > 1 else choice for choice, names in of.items())
        for what, of in sorted(chosen.items(), key=lambda found: not found[0].startswith("network"))
    ]


def _format_setting(value: Any) -> str:
    return "none" if value is None else json.dumps(value).replace('"', "")


def _seed_notes(sections: Sequence[MeasuredSection]) -> list[str]:
    """The seeds on each data set, named once for the variants that share them."""
    shared: dict[tuple[str, str], dict[str, None]] = {}
    for section in sections:
        for name, entry in section.plan.measured.items():
            shared.setdefault((section.plan.title, named_seeds(entry.seeds)), {})[name] = None
    return [f"{title}, {seeds}: {', '.join(names)}." for (title, seeds), names in shared.items()]


def _exact_notes(made: Sequence[Statement]) -> list[str]:
    every = [current_statement({}), *(one for statement in made for one in (statement, *ancestors(statement)))]
    return [EXACT] * (bool(made) and all(map(is_exact, every)))


def _device_notes(made: Sequence[Statement]) -> list[str]:
    devices = {one.found.get(key, "cpu") for one in made for key in ("device", "trained_on")}
    return [] if devices <= {"cpu"} else ["Computed on a GPU: another run may differ in the last digits."]


def _precision_notes(made: Sequence[Statement]) -> list[str]:
    """The training precisions other than float32, named once each."""
    named = {name for one in made for name in one.found.get("trained_in", "float32").split(", ")}
    return [f"Some models were trained in {name} instead of float32." for name in sorted(named - {"float32"})]


def _cut_notes(sections: Sequence[MeasuredSection]) -> list[str]:
    """The rows whose sentences are longer than their network reads."""
    return [
        f"{section.plan.title}: {name}: {statements[0].found['cut']} sentences have more "
        "tokens than the network reads, and are cut."
        for section in sections
        for name, statements in section.statements.items()
        if statements and "cut" in statements[0].found
    ]


def settings_digest(made: Sequence[Statement]) -> str:
    """A short digest of the settings with which files, and all that they were made from, were made."""
    every = [one for statement in made for one in (statement, *ancestors(statement))]
    named = [({name: value for name, value in one.wildcards.items() if name != "shard"}, one.given) for one in every]
    given = sorted({json.dumps(one, sort_keys=True) for one in named})
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()[:12]


def _versions(made: Sequence[Statement]) -> str:
    versions = {f"{name} {version}" for one in made for name, version in one.found.get("versions", {}).items()}
    return ", ".join(sorted(versions)) or "nothing was measured"


INTERVAL = (
    "Its interval covers the choice of training images and of test images together, as each resplit has others of "
    "both. It does not fully cover the seed of training, which is the same on all. It is Student's interval of the "
    "gains of the resplits, made wider because resplits share images (Nadeau and Bengio, 2003)."
)
"""Explains the 95% interval of a mean, as `interval_over_resplits` computes it; the mean is named before."""


def describe_resplits(train: int, tests: Sequence[int]) -> str:
    """Says over how many resplits means are taken: `train` images of each are trained on, and `tests` are ranked."""
    return f"means over {len(tests)} random splits, each of {train:,} training and {count_range(tests)} test images"
