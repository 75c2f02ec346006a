"""`densevse evaluate`: the metrics of scores or embeddings in files, or of a network without training."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from snakeproof.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from densevse.config.given import GivenFiles
    from densevse.evaluation.given.results import EvaluatedModel

HELP = "print the metrics of scores or embeddings from elsewhere, or of a network without training"
PROTOCOLS = ("full", "five_folds", "first_1000", "hodosh")
FILES = ("scores", "i2t", "t2i", "images", "sentences", "image_ids", "caption_ids")
SIMILARITIES = ("cosine", "dot", "order", "max_sum", "max_sum_of_query")
LAYOUT = ("similarity", "copies", "unscored", "lower_is_better")
OF_SCORES, OF_MODEL = (*FILES, *LAYOUT, "at", "run"), ("data", "weights", "tokenizer", "pad", "cores")
"""The arguments without --model, and those with it."""
NOT_OF_CHOICES = ("i2t", "t2i", "caption_ids", "copies", "unscored", "at", "run", "protocol")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files, their contents, the right answers, the metrics and the files to write."""
    parser.add_argument("scores", nargs="?", help="scores (images, sentences): npy, npz, Parquet or safetensors")
    parser.add_argument("--i2t", help="scores (images, sentences) where images ask, with --t2i instead of scores")
    parser.add_argument("--t2i", help="scores (sentences, images) where sentences ask")
    parser.add_argument("--images", help="vectors of images, with --sentences and --similarity instead of scores")
    parser.add_argument("--sentences", help="vectors of sentences")
    parser.add_argument("--similarity", choices=SIMILARITIES, help="the score of two vectors, or of several each")
    parser.add_argument("--copies", type=int, help="the copies of each image in the file; 5 in VSE++'s")
    parser.add_argument("--unscored", choices=("nan", "-inf"), help="the mark of pairs that have no score")
    parser.add_argument("--lower-is-better", action="store_true", help="the scores are distances")
    parser.add_argument("--image-ids", help="the ids of the images, one a line, with --relevant; by default from 0")
    parser.add_argument("--caption-ids", help="the ids of the sentences, with --relevant; by default from 0")
    answers = parser.add_mutually_exclusive_group(required=True)
    answers.add_argument("--per-image", type=int, help="the number of sentences of each image, such as 5")
    answers.add_argument("--relevant", help="the right answers: Parquet, TREC qrels, or a sparse matrix of SciPy (npz)")
    answers.add_argument(
        "--model",
        help="a network without training: open_clip:<name>, sentence_transformers:<folder>, or its entry's name",
    )
    answers.add_argument("--choices", metavar="FILE", help="questions: of an image a right sentence and wrong ones")
    parser.add_argument("--blind", metavar="FILE", help="with --choices: the scores beside other images, as scores")
    parser.add_argument(
        "--queries", choices=("images", "sentences"), help="with --relevant as qrels: which ask, if ids do not tell"
    )
    parser.add_argument("--data", metavar="FILE", help="with --model: the YAML file of a data set")
    parser.add_argument("--weights", metavar="FILE", help="with --model: its weights")
    parser.add_argument("--tokenizer", metavar="FILE", help="with --model: tokenizer.json, if it is not CLIP's")
    parser.add_argument("--pad", metavar="TOKEN", help="with --tokenizer: the token that fills up sentences")
    parser.add_argument("--cores", help="with --model: cores of this machine to use; all by default")
    parser.add_argument(
        "--at", metavar="K,K", type=_parse_cutoffs, help="cut-offs of R@K and nDCG@K; 1,5,10 with --relevant"
    )
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default="full",
        help="the protocol: which images are ranked with which sentences",
    )
    parser.add_argument("--intervals", action="store_true", help="also print the 95%% interval of each metric")
    parser.add_argument("--json", help="a file to write, as CLIP_benchmark and mteb read it")
    parser.add_argument("--csv", help="a file to write, with a row for each metric")
    parser.add_argument("--run", metavar="FILE", help="run files of TREC to write: of x.run, x.i2t.run and x.t2i.run")
    parser.add_argument(
        "--language", metavar="CODE", help="with --json: the sentences' language as mteb names it; eng-Latn by default"
    )


def run(arguments: Namespace) -> int:
    """Prints a line of metrics for each direction, and the sum of recalls; writes the files that are asked for."""
    from densevse.evaluation.given.results import write_csv, write_json

    _check_arguments(arguments)
    folders = {Path(file).parent for file in (arguments.json, arguments.csv, arguments.run) if file}
    absent = [folder for folder in folders if not folder.is_dir()]  # before --run makes its own
    measured, found = _evaluate_network(arguments) if arguments.model else _evaluate_given_files(arguments)
    if not arguments.choices:
        _print_ranked(found, arguments.protocol)
        _print_metrics(found)
    for folder in absent:
        print(f"{folder}: this folder was not there, and is made.", file=sys.stderr)
    if arguments.json:
        write_json(found, arguments.json, measured)
        if not arguments.language:
            said = f"{arguments.json}: its sentences are in {measured.language}; --language names another."
            print(said, file=sys.stderr)
    if arguments.csv:
        write_csv(found, arguments.csv)
    return 0


def _check_arguments(arguments: Namespace) -> None:
    """Raises `InputError` that names arguments which do not go with others, or only with others."""
    from densevse.config.values import LANGUAGE

    of_scores = [key for key in OF_SCORES if key != "similarity" or not _is_folder(arguments)]
    for fits, keys, message in (
        (not arguments.model, of_scores, "--model: its scores are computed here; leave out {}."),
        (arguments.model, OF_MODEL, "{}: only with --model; add it, or leave this out."),
        (not arguments.choices, NOT_OF_CHOICES, "--choices: nothing is ranked; leave out {}."),
        (arguments.json, ("language",), "{}: only with --json, which has it; add it, or leave this out."),
        (arguments.choices, ("blind",), "{}: only with --choices; add it, or leave this out."),
        (
            arguments.relevant,
            ("queries",),
            "{}: only with --relevant, which has the right answers; add it, or leave this out.",
        ),
    ):
        wrong = [key for key in keys if getattr(arguments, key) not in (None, False, "full")]
        if wrong and not fits:
            named = (arguments.scores if key == "scores" else f"--{key.replace('_', '-')}" for key in wrong)
            raise InputError(message.format(", ".join(named)))
    if arguments.language and not re.fullmatch(LANGUAGE, arguments.language):
        raise InputError(
            f"--language: expected a code as mteb has them, such as eng-Latn or deu-Latn, found {arguments.language!r}."
        )


def _is_folder(arguments: Namespace) -> bool:
    return (arguments.model or "").startswith("sentence_transformers:")


def _evaluate_network(arguments: Namespace) -> tuple["EvaluatedModel", dict[str, float]]:
    from densevse.config.environment import check_extra

    check_extra("snakemake", "workflow,networks", "--model")
    package = ("sentence_transformers", "encoders") if _is_folder(arguments) else ("open_clip", "networks")
    check_extra(*package, "--model")
    from densevse.command.zero_shot import evaluate_zero_shot  # which imports packages of the workflow

    return evaluate_zero_shot(arguments)


def _evaluate_given_files(arguments: Namespace) -> tuple["EvaluatedModel", dict[str, float]]:
    from densevse.config.given import GivenFiles
    from densevse.evaluation.given.measure import Measures, evaluate_files, evaluate_relevant_files
    from snakeproof.strict import validate

    named = {key: getattr(arguments, key) for key in (*FILES, *LAYOUT) if getattr(arguments, key) is not None}
    given = validate(GivenFiles, named, "the command line")
    if arguments.choices:
        return _name_model(given, arguments), _evaluate_choices(given, arguments)
    measures = Measures(arguments.protocol, arguments.at, arguments.intervals, arguments.run)
    if arguments.relevant:
        found = evaluate_relevant_files(given, arguments.relevant, arguments.queries, measures)
    else:
        found = evaluate_files(given, arguments.per_image, measures)
    return _name_model(given, arguments), found


def _name_model(given: "GivenFiles", arguments: Namespace) -> "EvaluatedModel":
    from densevse.evaluation.given.results import ENGLISH, EvaluatedModel

    return EvaluatedModel(next(iter(given.files(0).values())), language=arguments.language or ENGLISH)


def _evaluate_choices(given: "GivenFiles", arguments: Namespace) -> dict[str, float]:
    """Prints a row for each category, and returns the metrics of all."""
    from densevse.evaluation.choices import flatten_choices
    from densevse.evaluation.given.choices import evaluate_choice_files

    rows = evaluate_choice_files(given, arguments.choices, arguments.blind)
    _print_choices(rows, arguments.intervals)
    return flatten_choices(rows)


def _print_choices(rows: "pd.DataFrame", intervals: bool) -> None:
    """Prints the metrics of each category, with their intervals if asked, and where blind choices are above chance."""
    columns = [name for name in PRINTED_CHOICES if name in rows and rows[name].notna().any()]
    width = max(map(len, ("low", *rows["category"])))
    print(" " * width, *(f"{PRINTED_CHOICES[name]:>10}" for name in columns))
    for row in rows.to_dict("records"):
        print(f"{row['category']:<{width}}", *(_choice_number(row[name], name) for name in columns))
        for end in ("low", "high") if intervals else ():
            print(f"{end:>{width}}", *(_choice_number(row.get(f"{name}_{end}"), name) for name in columns))
    beats = ", ".join(rows.loc[rows["beats_chance_blind"], "category"])
    if beats:
        print(f"above chance without the picture: {beats}; there the difference counts, not the choice")


PRINTED_CHOICES = {
    name: name.replace("_", " ")
    for name in ("questions", "chance", "choice", "blind", "difference", "text", "image", "both", "ties", "blind_ties")
}


def _choice_number(value: float | None, name: str) -> str:
    if value is None or value != value:
        return " " * 10
    return f"{value:10,.0f}" if name in ("questions", "ties", "blind_ties") else f"{value:10.1f}"


_FOLD = 1000
"""The images of a fold of the protocol five_folds in papers."""


def _print_ranked(found: Mapping[str, float], protocol: str) -> None:
    """Prints how many items were ranked and how; a remark if folds have another size than those of papers."""
    images, sentences, folds = (int(found[key]) for key in ("images", "sentences", "folds"))
    print(f"{images:,} images and {sentences:,} sentences, protocol {protocol}")
    if folds > 1 and images != folds * _FOLD:
        remark = f"{folds} folds of about {images / folds:,.0f} images: papers have {_FOLD:,}, and fewer are easier."
        print(remark, file=sys.stderr)


def _print_metrics(found: Mapping[str, float]) -> None:
    """Prints a row for each direction with its interval if there is one, and the rsum."""
    keys = [key.removeprefix("i2t_") for key in found if key.startswith("i2t_") and not key.endswith(("_low", "_high"))]
    print("     ", *(f"{_header(key):>7}" for key in keys))
    for direction in ("i2t", "t2i"):
        print(f"{direction:<5}", *(_number(found[f"{direction}_{key}"], key) for key in keys))
        for end in ("low", "high"):
            if f"{direction}_{keys[0]}_{end}" in found:
                print(f"{end:>5}", *(_number(found.get(f"{direction}_{key}_{end}"), key) for key in keys))
    if "rsum" in found:
        ends = f" ({found['rsum_low']:.1f} to {found['rsum_high']:.1f})" if "rsum_low" in found else ""
        print(f"rsum  {found['rsum']:7.1f}{ends}")


def _parse_cutoffs(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(
            f"expected whole numbers with commas between them, such as 1,5,10, not {text!r}"
        ) from None


def _header(key: str) -> str:
    from densevse.report.columns import METRICS

    named = {name.removeprefix("i2t_"): column.header for name, column in METRICS.items()}
    named |= {"mrr": "MRR", "map_at_r": "mAP@R", "rprecision": "R-P"}
    other = f"nDCG@{key.removeprefix('ndcg_at_')}" if key.startswith("ndcg_at_") else key
    return named.get(key, f"R@{key[1:]}" if key[1:].isdigit() else other)


def _number(value: float | None, key: str) -> str:
    if value is None:
        return " " * 7
    return f"{value:7.0f}" if key in ("ties", "queries") else f"{value:7.1f}"
