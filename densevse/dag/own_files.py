"""Files that the configuration names and no rule makes.

Snakemake drops a job in silence when its input is missing while its output is there, so that a wrong path would leave
the results of another one standing under its name. It cannot do so for a file that some rule promises to make. So the
paths that are not there are outputs of the rule `absent`, which is planned where a target needs one of them, and
refuses by a parameter, before any job runs and in a dry run too.
"""

import os
from collections.abc import Callable, Iterator

from densevse.config.environment import corenlp_home
from densevse.dag.project import Project, Stage, any_of
from densevse.runtime.errors import InputError


class OwnFileStage(Stage):
    """Paths that the user set, or that come with the project."""

    def __init__(self, project: Project) -> None:
        """Raises `InputError` for a folder of the user's that holds what the workflow makes: it would never rest."""
        super().__init__(project)
        made = [os.path.realpath(folder) for folder in (self.results, self.resources, ".snakemake")]
        for key, path in self._named():
            for folder in made:
                if os.path.commonpath([os.path.realpath(path), folder]) == os.path.realpath(path):
                    raise InputError(
                        f"{key}: {path} holds {folder}, which changes in each run; name a folder of its own."
                    )

    def absent(self, makers: Callable[[str], list[str]]) -> str:
        """The paths that are not there and that no rule makes."""
        return any_of(path for path in self._absent() if not makers(path))

    def paths(self) -> list[str]:
        """The paths of the configuration."""
        return [path for _, path in self._named()]

    def refuse(self, absent: str) -> None:
        """Raise `InputError` naming the key of a path that is not there."""
        keys = " and ".join(self._absent()[absent])
        raise InputError(f"{keys}: {absent} is not there. Correct the path, or take the key out of your configuration.")

    def _absent(self) -> dict[str, list[str]]:
        """Path -> the keys that name it."""
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
