"""`densevse evaluate`: the metrics of scores or embeddings in files, without the workflow."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

HELP = "print the metrics of scores or embeddings from elsewhere"
PROTOCOLS = ("full", "five_folds", "first_1000", "hodosh")
FILES = ("scores", "i2t", "t2i", "images", "sentences", "image_ids", "caption_ids")
LAYOUT = ("similarity", "copies", "unscored", "lower_is_better")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files, their contents, the right answers, the metrics and the files to write."""
    parser.add_argument("scores", nargs="?", help="scores (images, sentences): npy, npz, Parquet or safetensors")
    parser.add_argument("--i2t", help="scores (images, sentences) where images ask, with --t2i instead of scores")
    parser.add_argument("--t2i", help="scores (sentences, images) where sentences ask")
    parser.add_argument("--images", help="vectors of images, with --sentences and --similarity instead of scores")
    parser.add_argument("--sentences", help="vectors of sentences")
    parser.add_argument("--similarity", choices=("cosine", "dot", "order"), help="the score of two vectors")
    parser.add_argument("--copies", type=int, default=1, help="the copies of each image in the file; 5 in VSE++'s")
    parser.add_argument("--unscored", choices=("nan", "-inf"), help="the mark of pairs that have no score")
    parser.add_argument("--lower-is-better", action="store_true", help="the scores are distances")
    parser.add_argument("--image-ids", help="the ids of the images, one a line, with --relevant; by default from 0")
    parser.add_argument("--caption-ids", help="the ids of the sentences, with --relevant; by default from 0")
    answers = parser.add_mutually_exclusive_group(required=True)
    answers.add_argument("--per-image", type=int, help="the number of sentences of each image, such as 5")
    answers.add_argument("--relevant", help="the right answers: Parquet, TREC qrels, or a sparse matrix of SciPy (npz)")
    parser.add_argument("--at", metavar="K,K", type=_cutoffs, help="cut-offs of R@K and nDCG@K; 1,5,10 with --relevant")
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default="full",
        help="the protocol: which images are ranked with which sentences",
    )
    parser.add_argument("--intervals", action="store_true", help="also print the 95%% interval of each metric")
    parser.add_argument("--json", help="a file to write, as CLIP_benchmark and mteb read it")
    parser.add_argument("--csv", help="a file to write, with a row for each metric")


def run(arguments: Namespace) -> int:
    """Prints a line of metrics for each direction, and the sum of recalls; writes the files that are asked for."""
    from densevse.config.given import GivenFiles
    from densevse.config.strict import validate
    from densevse.evaluation.given.measure import Measures, evaluate_files, evaluate_relevant_files
    from densevse.evaluation.given.results import write_csv, write_json

    named = {key: getattr(arguments, key) for key in (*FILES, *LAYOUT) if getattr(arguments, key)}
    given = validate(GivenFiles, named, "the command line")
    measures = Measures(arguments.protocol, arguments.at, arguments.intervals)
    if arguments.relevant:
        found = evaluate_relevant_files(given, arguments.relevant, measures)
    else:
        found = evaluate_files(given, arguments.per_image, measures)
    _print(found)
    if arguments.json:
        write_json(found, arguments.json, next(iter(given.files(0).values())))
    if arguments.csv:
        write_csv(found, arguments.csv)
    return 0


def _print(found: Mapping[str, float]) -> None:
    """A table with a row for each direction, one with the ends of the intervals, if there are any, and the rsum."""
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


def _cutoffs(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _header(key: str) -> str:
    from densevse.report.layout import METRIC_HEADERS

    named = {**METRIC_HEADERS, "mrr": "MRR", "map_at_r": "mAP@R", "rprecision": "R-P"}
    other = f"nDCG@{key.removeprefix('ndcg_at_')}" if key.startswith("ndcg_at_") else key
    return named.get(key, f"R@{key[1:]}" if key[1:].isdigit() else other)


def _number(value: float | None, key: str) -> str:
    if value is None:
        return " " * 7
    return f"{value:7.0f}" if key in ("ties", "queries") else f"{value:7.1f}"
