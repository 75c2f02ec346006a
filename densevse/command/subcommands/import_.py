"""`densevse import`: imports a model from a folder that `densevse export` wrote."""

from argparse import ArgumentParser, Namespace

from densevse.command.shared import add_configfiles

HELP = "import an exported model, for searches and retrieval here"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the folder."""
    parser.add_argument("folder", help="a folder that `densevse export` wrote")
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Copies the folder below resources/carried/, and prints its new path."""
    from densevse.command.shared import configured_project
    from densevse.exchange.dag import import_model

    print(import_model(arguments.folder, configured_project(arguments.configfile)))
    return 0
