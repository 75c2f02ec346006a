"""`densevse import`: imports a model from a folder that `densevse export` wrote, or from the Hugging Face Hub."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from densevse.command.shared import add_configfiles

HELP = "import an exported model, for searches and retrieval here"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the folder."""
    parser.add_argument(
        "folder", help="a folder that `densevse export` wrote, or hub:owner/name[@revision] on the Hugging Face Hub"
    )
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Obtains the folder if it is on the Hub, copies it below resources/carried/, and prints its new path."""
    from densevse.command.shared import configured_project
    from densevse.exchange.dag import import_model

    project = configured_project(arguments.configfile)
    print(import_model(_obtain_folder(arguments.folder), project))
    return 0


def _obtain_folder(named: str) -> str | Path:
    """The folder that is named, or the one obtained from the Hub."""
    if not named.startswith("hub:"):
        return named
    from densevse.exchange.hub import pull

    return pull(named)
