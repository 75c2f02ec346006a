"""`densevse export`: writes a trained model as one folder, and publishes it on request."""

import subprocess
from argparse import ArgumentParser, Namespace
from pathlib import Path

from densevse.command.shared import add_configfiles, check_name, snakemake_command
from snakeproof.errors import InputError

HELP = "export a trained model as a folder: weights, vocabulary, preprocessing, metrics, card, licences"
PASSES_ON = True


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the model."""
    parser.add_argument(
        "variant", help="a variant of config/methods; its last round is exported, and trained first if necessary"
    )
    parser.add_argument("--on", metavar="DATASET", required=True, help="the data set of its training")
    parser.add_argument("--seed", type=int, help="the seed; by default the data set's first")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--onnx", action="store_true", help="export the two encoders as ONNX files, which run without densevse"
    )
    kind.add_argument(
        "--push-to-hub", metavar="OWNER/NAME", help="publish the folder in this repository of the Hugging Face Hub"
    )
    parser.add_argument("--cores", default="all", help="cores of this machine to use; all by default")
    add_configfiles(parser)
    parser.epilog = "Arguments after a lone -- are passed to Snakemake, such as -- --dry-run."


def run(arguments: Namespace) -> int:
    """Lets Snakemake make the folder, and prints its path, or the address where it was published."""
    from densevse.command.shared import configured_project
    from densevse.exchange.dag import export_folder

    repository = arguments.push_to_hub
    _check_push(repository, arguments.passed_on)
    project = configured_project(arguments.configfile)
    check_name("variant", arguments.variant, project.config.variant_names())
    check_name("data set", arguments.on, list(project.config.datasets))
    folder = export_folder(project, arguments.on, arguments.variant, arguments.seed, arguments.onnx)
    options = ["--cores", arguments.cores, *arguments.passed_on]
    status = subprocess.call(snakemake_command([folder], arguments.configfile, *options))
    if status == 0 and Path(folder).is_dir():  # after a dry run it may not exist
        print(_publish_folder(folder, repository) if repository else folder)
    return status


def _check_push(repository: str | None, passed_on: list[str]) -> None:
    """Raises `InputError` for a wrong name, or for options of Snakemake's, such as --dry-run, before a push."""
    if repository is None:
        return
    from densevse.exchange.hub import check_repository

    check_repository(repository)
    if passed_on:
        raise InputError(
            f"--push-to-hub passes nothing on to Snakemake: export with {' '.join(passed_on)} first, then push."
        )


def _publish_folder(folder: str, repository: str) -> str:
    """The address where the folder was published."""
    from densevse.exchange.hub import push

    return push(folder, repository)
