"""Files that the configuration names and no rule makes.

If a job's input is missing but its output exists, Snakemake silently drops the job. With a wrong path, results of
another file would remain under its name. Snakemake does not do that for a file that some rule makes. So missing paths
are outputs of the rule `absent`. It is planned if a target needs one of them, and its parameter raises an error before
any job runs, in a dry run too.
"""

import os
from collections.abc import Callable, Iterator

from densevse.config.environment import corenlp_home
from densevse.config.sources import is_in_bucket
from densevse.dag.project import Project, Stage, any_of
from densevse.runtime.errors import InputError


class OwnFileStage(Stage):
    """Paths that the user set, or that come with the project."""

    def __init__(self, project: Project, missing: Callable[[str], str | None] = lambda address: None) -> None:
        """`missing` gives Snakemake's name of an address in a bucket where nothing lies; None where something does.

        Raises `InputError` for a user's folder that holds results of the workflow, as it would always change.
        """
        super().__init__(project)
        self._missing = missing
        made = [os.path.realpath(folder) for folder in (self.results, self.resources, ".snakemake")]
        for key, path in self._here():
            for folder in made:
                if os.path.commonpath([os.path.realpath(path), folder]) == os.path.realpath(path):
                    raise InputError(
                        f"{key}: {path} contains {folder}, which changes in each run; name another folder."
                    )

    def absent(self, makers: Callable[[str], list[str]]) -> str:
        """The missing paths that no rule makes."""
        return any_of(path for path in self._absent() if not makers(path))

    def paths(self) -> list[str]:
        """The paths of the configuration."""
        return [path for _, path in self._named()]

    def refuse(self, absent: str) -> None:
        """Raises `InputError` that names the key of a missing path."""
        path, keys = self._absent()[absent]
        raise InputError(
            f"{' and '.join(keys)}: {path} is not there. Correct the path, or remove the key from your configuration."
        )

    def copied(self, folders: bool, all_of_them: bool) -> str:
        """The copies in a bucket of the user's files, or else of folders, below the folder of uploads.

        Of paths that are not here, as those of another machine, there are none, unless `all_of_them` are asked for:
        those are files that the rule `absent` refuses.
        """
        here = [path for _, path in self._here() if all_of_them or os.path.exists(path)]
        return any_of(self._copies([path for path in here if os.path.isdir(path) == folders]))

    def original(self, own_copy: str) -> str:
        """The path that a copy is of."""
        return self._copies([path for _, path in self._here()])[own_copy]

    def _copies(self, paths: list[str]) -> dict[str, str]:
        """Copy -> path, of those that are copied: nothing is where results lie on a disk."""
        uploads = self.project.contents.uploads
        if uploads is None:
            return {}
        copied = {uploads.copy_of(path): path for path in paths if not uploads.lies_there(path)}
        return {copy.removeprefix(f"{uploads.folder}/"): path for copy, path in copied.items()}

    def _absent(self) -> dict[str, tuple[str, list[str]]]:
        """Snakemake's name of a path -> the path, and the keys that name it."""
        found: dict[str, tuple[str, list[str]]] = {}
        for key, path in self._named():
            name = self._missing(path) if is_in_bucket(path) else None if os.path.exists(path) else path
            if name is not None:
                found.setdefault(name, (path, []))[1].append(key)
        return found

    def _here(self) -> Iterator[tuple[str, str]]:
        """The same as `_named`, but for addresses in a bucket."""
        yield from ((key, path) for key, path in self._named() if not is_in_bucket(path))

    def _named(self) -> Iterator[tuple[str, str]]:
        """The keys and paths of the configuration."""
        config, corenlp = self.config, corenlp_home()
        yield from [("CORENLP_HOME", corenlp)] if corenlp else []
        for settings in config.analyses():
            yield from settings.paths()
        for owner, dataset in config.datasets.items():
            yield from ((f"datasets.{owner}.local.{source}", path) for source, path in dataset.local.items())
            yield from [(f"datasets.{owner}.boxes", dataset.boxes)] if dataset.boxes else []
            yield from ((f"datasets.{owner}.features.{key}", path) for key, path in dataset.feature_files())
        for name, network in config.networks.items():
            yield from [(f"networks.{name}.local", network.local)] if network.local else []
            if network.classes not in (None, "imagenet"):
                yield f"networks.{name}.classes", self.project.packaged(str(network.classes))
        for name, vectors in config.word_vectors.items():
            yield from [(f"word_vectors.{name}.local", vectors.local)] if vectors.local else []
        for name, proposer in config.proposers.items():
            yield from [(f"proposers.{name}.local", proposer.local)] if proposer.local else []
            yield from ((f"proposers.{name}.options", path) for path in proposer.files())
        for name, row in config.given().items():
            yield from ((f"methods.{name}.{key}", path) for key, path in row.paths())
