"""Files that the configuration names and no rule makes.

If a job's input is missing but its output exists, Snakemake silently drops the job. With a wrong path, results of
another file would remain under its name. Snakemake does not do that for a file that some rule makes. So missing paths
are outputs of the rule `absent`. It is planned if a target needs one of them, and its parameter raises an error before
any job runs, in a dry run too.
"""

import os
from collections.abc import Callable, Iterator

from densevse.config.environment import corenlp_home
from densevse.dag.project import Project, Stage, any_of
from densevse.runtime.errors import InputError


class OwnFileStage(Stage):
    """Paths that the user set, or that come with the project."""

    def __init__(self, project: Project) -> None:
        """Raises `InputError` for a user's folder that holds results of the workflow, as it would always change."""
        super().__init__(project)
        made = [os.path.realpath(folder) for folder in (self.results, self.resources, ".snakemake")]
        for key, path in self._named():
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
        keys = " and ".join(self._absent()[absent])
        raise InputError(f"{keys}: {absent} is not there. Correct the path, or remove the key from your configuration.")

    def _absent(self) -> dict[str, list[str]]:
        """The keys that name each missing path."""
        found: dict[str, list[str]] = {}
        for key, path in self._named():
            if not os.path.exists(path):
                found.setdefault(path, []).append(key)
        return found

    def _named(self) -> Iterator[tuple[str, str]]:
        """The keys and paths of the configuration."""
        config, corenlp = self.config, corenlp_home()
        yield from [("CORENLP_HOME", corenlp)] if corenlp else []
        for settings in config.analyses():
            yield from settings.paths()
        for name, dataset in config.datasets.items():
            yield from ((f"datasets.{name}.local.{source}", path) for source, path in dataset.local.items())
            yield from [(f"datasets.{name}.boxes", dataset.boxes)] if dataset.boxes else []
            yield from ((f"datasets.{name}.features.{key}", path) for key, path in dataset.feature_files())
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
