"""`densevse show`: prints the settings of a variant, each with its origin."""

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from densevse.command.shared import (
    ROOT,
    add_configfiles,
    align_columns,
    check_name,
    configuration,
    configured_project,
    overrides,
)
from snakeproof.errors import InputError

HELP = "print the settings of a variant, each with its origin, or the preprocessing of a network"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the variant and the data set."""
    parser.add_argument(
        "variant",
        help="a variant of config/methods or config/generators; `densevse list methods` prints them; or a network",
    )
    parser.add_argument("--on", metavar="DATASET", help="a data set, for its settings there; by default the paper's")
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Prints a line for each setting of a variant, or one line for a network."""
    over = overrides(arguments.configfile)
    config = configuration(over)
    variants = [*config.variant_names(), *config.generator_names()]
    if arguments.variant in config.networks and arguments.variant not in variants:
        from densevse.vision.networks import describe_input

        entry = configured_project(arguments.configfile).network_entry(arguments.variant)
        print(f"{entry.architecture}: {describe_input(entry)}")
        return 0
    if arguments.variant in config.ensembles():
        members = ", ".join(config.ensembles()[arguments.variant].members)
        raise InputError(
            f"{arguments.variant} is an ensemble, which has no settings; show one of its members: {members}"
        )
    check_name("variant", arguments.variant, [*variants, *config.networks])
    if arguments.on:
        check_name("data set", arguments.on, list(config.datasets))
    from densevse.config.resolved import differences_from_code, resolve_settings

    rows = resolve_settings(arguments.variant, arguments.on, config, over, ROOT)
    print(align_columns(([row.path, _text(row.value), row.origin, row.place] for row in rows), cut=3))
    if differences := differences_from_code(arguments.variant, arguments.on, config):
        print("\nOtherwise than in the authors' code (docs/methods.md):")
        print("\n".join(f"- {difference}" for difference in differences))
    return 0


def _text(value: Any) -> str:
    """A value on one line, as YAML."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
