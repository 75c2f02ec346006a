"""`densevse evaluate`: the metrics of scores or embeddings in files, without the workflow."""

from argparse import ArgumentParser, Namespace

HELP = "print the metrics of scores or embeddings from elsewhere"
PROTOCOLS = ("full", "five_folds", "first_1000", "hodosh")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files, their contents, and the protocol."""
    parser.add_argument("scores", nargs="?", help="scores (images, sentences): npy, npz, Parquet or safetensors")
    parser.add_argument("--i2t", help="scores (images, sentences) where images ask, with --t2i instead of scores")
    parser.add_argument("--t2i", help="scores (sentences, images) where sentences ask")
    parser.add_argument("--images", help="vectors of images, with --sentences and --similarity instead of scores")
    parser.add_argument("--sentences", help="vectors of sentences")
    parser.add_argument("--similarity", choices=("cosine", "dot", "order"), help="the score of two vectors")
    parser.add_argument("--copies", type=int, default=1, help="the copies of each image in the file; 5 in VSE++'s")
    parser.add_argument("--unscored", choices=("nan", "-inf"), help="the mark of pairs that have no score")
    parser.add_argument("--per-image", type=int, required=True, help="the number of sentences of each image, such as 5")
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default="full",
        help="the protocol: which images are ranked with which sentences",
    )


def run(arguments: Namespace) -> int:
    """Prints a line of metrics for each direction, and the sum of recalls."""
    from densevse.config.given import GivenFiles
    from densevse.config.strict import validate
    from densevse.evaluation.given.measure import evaluate_files
    from densevse.report.layout import METRIC_HEADERS

    keys = ("scores", "i2t", "t2i", "images", "sentences", "similarity", "copies", "unscored")
    given = {key: getattr(arguments, key) for key in keys if getattr(arguments, key) is not None}
    found = evaluate_files(validate(GivenFiles, given, "the command line"), arguments.per_image, arguments.protocol)
    columns = {**METRIC_HEADERS, "ties": "ties"}
    print("     ", *(f"{title:>7}" for title in columns.values()))
    for direction in ("i2t", "t2i"):
        print(f"{direction:<5}", *(_number(found[f"{direction}_{key}"], key) for key in columns))
    print(f"rsum  {found['rsum']:7.1f}")
    return 0


def _number(value: float, key: str) -> str:
    return f"{value:7.0f}" if key == "ties" else f"{value:7.1f}"
