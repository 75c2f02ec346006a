"""`densevse sources`: checks whether the configured downloads are still available."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from densevse.command.shared import add_configfiles, align_columns, configuration, overrides

if TYPE_CHECKING:
    from densevse.datasets.check_sources import CheckedAddress

HELP = "check that each address of the sources still has its file"
_HEAD = ("source", "answer", "bytes", "configured")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the files over the configuration."""
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Prints a line for each address; the status is 1 if no address has a source."""
    from densevse.dag.downloads import sources_by_path
    from densevse.datasets.check_sources import check_sources, unobtainable_sources

    checked = check_sources(sources_by_path(configuration(overrides(arguments.configfile))))
    lines = align_columns([_HEAD, *map(_row, checked)], cut=1, right=(2, 3)).splitlines()
    addresses = ["address", *(one.address for one in checked)]  # whole addresses, so that they can be copied
    print("\n".join(f"{line}  {address}" for line, address in zip(lines, addresses, strict=True)))
    gone = unobtainable_sources(checked)
    for source in gone:
        print(f"{source}: no address has it; add another one to its `url`, or name your own file as `local`.")
    return 1 if gone else 0


def _row(one: "CheckedAddress") -> tuple[str, ...]:
    sizes = ("?" if size is None else f"{size:,}" for size in (one.answer.size, one.expected))
    return (one.source, one.problem or "ok", *sizes)
