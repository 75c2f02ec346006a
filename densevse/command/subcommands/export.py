"""`densevse export`: writes a trained model as one folder."""

import subprocess
from argparse import ArgumentParser, Namespace
from pathlib import Path

from densevse.command.shared import add_configfiles, check_name, snakemake

HELP = "export a trained model as a folder: weights, vocabulary, preprocessing, metrics, card, licences"
PASSES_ON = True


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the model."""
    parser.add_argument(
        "variant", help="a variant of config/methods; its last round is exported, and trained first if necessary"
    )
    parser.add_argument("--on", metavar="DATASET", required=True, help="the data set of its training")
    parser.add_argument("--seed", type=int, help="the seed; by default the data set's first")
    parser.add_argument(
        "--onnx", action="store_true", help="export the two encoders as ONNX files, which run without densevse"
    )
    parser.add_argument("--cores", default="all", help="cores of this machine to use; all by default")
    add_configfiles(parser)
    parser.epilog = "Arguments after a lone -- are passed to Snakemake, such as -- --dry-run."


def run(arguments: Namespace) -> int:
    """Lets Snakemake make the folder, and prints its path."""
    from densevse.command.shared import configured_project
    from densevse.exchange.dag import ExchangeStage

    project = configured_project(arguments.configfile)
    check_name("variant", arguments.variant, project.config.variant_names())
    check_name("data set", arguments.on, list(project.config.datasets))
    folder = ExchangeStage(project).exported(arguments.on, arguments.variant, arguments.seed, arguments.onnx)
    options = ["--cores", arguments.cores, *arguments.passed_on]
    status = subprocess.call(snakemake([folder], arguments.configfile, *options))
    if status == 0 and Path(folder).is_dir():  # after a dry run it may not exist
        print(folder)
    return status
