"""The list of everything that is made of a data set."""

from collections.abc import Sequence

from densevse.artifacts.files import write_text


def write_list(title: str, files: Sequence[str], output: str, **made: list[str]) -> None:
    """The job that lists the `files` of a data set's tables and analyses, which are `made` before it runs."""
    lines = [f"Everything of {title} is made:", *files]
    write_text("".join(f"{line}\n" for line in lines), output)
