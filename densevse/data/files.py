"""The artifacts that a job reads, by the names of its rule's inputs."""

from collections.abc import Mapping
from typing import Any, Self

from densevse.runtime.errors import InputError

VIEW, _SOURCE = "view_", "source_"


class Files:
    """A rule's named inputs: each name is one path or several.

    Known names are image_table, caption_table, tokens, words, view_<view> (shards of features, or sentences that a
    generator wrote), parses (shards), relations, tags, word_vectors and correspondences. A job has those that its
    method's configuration asks for. A job that reads pixels also has the files of the data set, source_<source>, which
    are not artifacts.
    """

    def __init__(self, named: Mapping[str, str | list[str]]) -> None:
        self._named = {name: paths for name, paths in named.items() if paths}

    @classmethod
    def of(cls, named: Mapping[str, Any]) -> Self:
        """Takes a rule's inputs; inputs without a name are not artifacts."""
        return cls({name: paths if isinstance(paths, str) else list(paths) for name, paths in named.items()})

    def __contains__(self, name: str) -> bool:
        """True if the rule has an input of that name."""
        return name in self._named

    def one(self, name: str) -> str:
        """The path of an input that is one file. Raises `InputError` if the input is missing or has several files."""
        (path, *others) = self.several(name)
        if others:
            raise InputError(f"the job's input {name} is {1 + len(others)} files; expected one.")
        return path

    def several(self, name: str) -> list[str]:
        """The paths of an input. Raises `InputError` if the rule has no such input."""
        if name not in self:
            raise InputError(f"the job has no input {name}, which its method reads; found {sorted(self._named)}.")
        paths = self._named[name]
        return [paths] if isinstance(paths, str) else list(paths)

    def views(self) -> list[str]:
        """The names of the views."""
        return [name.removeprefix(VIEW) for name in self._named if name.startswith(VIEW)]

    def view(self, name: str) -> list[str]:
        """The files of a view: the shards of its features, or the sentences written about images."""
        return self.several(f"{VIEW}{name}")

    def sources(self) -> dict[str, str]:
        """Source -> the folder, zip or tar with the data set's images."""
        return {name.removeprefix(_SOURCE): self.one(name) for name in self._named if name.startswith(_SOURCE)}

    def paths(self) -> list[str]:
        """Every file except the data set's own, in the order of the inputs' names."""
        return [path for _, paths in sorted(self.named().items()) for path in paths]

    def named(self) -> dict[str, list[str]]:
        """Name -> the files of the input, without the data set's own."""
        return {name: self.several(name) for name in self._named if not name.startswith(_SOURCE)}

    def with_changes(self, **named: str | list[str]) -> Self:
        """The same files with some inputs replaced or added; an empty list removes an input."""
        return type(self)({**self._named, **named})
