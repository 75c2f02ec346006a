"""`densevse import`: a model that `densevse export` made a folder of."""

from argparse import ArgumentParser, Namespace

from densevse.command.project import add_configfiles

HELP = "take up a model that was exported elsewhere, for searches and retrieval here"


def add_arguments(parser: ArgumentParser) -> None:
    """The folder."""
    parser.add_argument("folder", help="as `densevse export` made it")
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Copy the folder below resources/carried/, and print where."""
    from densevse.carry.importing import import_model
    from densevse.command.configured import configured_project

    print(import_model(arguments.folder, configured_project(arguments.configfile)))
    return 0
