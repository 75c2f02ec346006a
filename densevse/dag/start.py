"""Starts the workflow: checks its options, place and configuration, and tells its jobs how they compute."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from densevse.config.environment import JOB_ENVIRONMENT, check_deployment, check_place, check_watchers
from densevse.dag.project import Project
from densevse.dag.tables import check_tables
from densevse.dag.targets import Makers
from densevse.runtime.project import GPU, JOBS_PER_GPU, LOADER_THREADS, NUMBERS_AT_ONCE, PACKAGE, PLAIN_ON_GPU, WATCHERS
from snakeproof.bucket import Bucket
from snakeproof.contents import Contents, Marks, Uploads, link_folders
from snakeproof.errors import InputError
from snakeproof.jobs import Calls
from snakeproof.options import check_options
from snakeproof.paths import Paths
from snakeproof.runs import Run
from snakeproof.statements import CARRIES, RESULTS
from snakeproof.yaml_files import check_configfiles

ADOPT = "densevse adopt"


class Start:
    """What the rules of a Snakemake `workflow` are made with: the project, and functions of paths and of params."""

    def __init__(
        self,
        workflow: Any,
        config: Mapping[str, Any],
        options: Namespace,
        marks: Marks,
        regex: Callable[[str], str],
        logger: Any,
    ) -> None:
        """`regex` is Snakemake's function from a path with wildcards to a pattern.

        Raises `InputError` that names what is wrong with the options, the place or the configuration.
        """
        self.root = Path(workflow.basedir)
        self.runner, self.environments = str(self.root / "workflow/scripts/job.py"), str(self.root / "envs")
        self.analyses = str(PACKAGE / "analyses")
        check_options(options, ADOPT)
        for name, value in JOB_ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        check_place(str(self.root), sys.executable)
        check_deployment(str(self.root), map(str, workflow.deployment_settings.deployment_method))
        check_configfiles(workflow.configfiles)
        bucket = Bucket.from_workflow(workflow)  # None where results lie in a folder
        self.makers = Makers(workflow, regex, bucket.place if bucket else str)
        contents = Contents(".snakemake/densevse-contents", self.makers.is_made, marks, logger.info)
        self.project = Project(self.root, config, contents)
        check_tables(self.project)
        self.settings = self.project.config
        self._check_exact()
        self._tell_jobs(is_in_bucket=bucket is not None)
        folders = {"results": self.settings.results, "resources": self.settings.resources}
        if bucket:
            contents.uploads = Uploads(self.settings.resources)
        adopt = f"{ADOPT} (with your --configfile)"
        self.run = Run(workflow, folders, self.makers.is_made, logger, adopt, bucket, options.dryrun)
        self.calls = Calls(self.project.code, self.project.revisions)
        # The values of <results> and others in paths of rules.
        self.folders = {
            **link_folders(project=self.root, package=PACKAGE),
            **folders,
            "logs": f"{self.settings.results}/logs",
            "model": "<results>/{dataset}/models/{variant}/seed{seed}",
        }
        self.paths = Paths(contents, **self.folders)

    def _check_exact(self) -> None:
        """Raises `InputError` if jobs must be exact and cannot be."""
        keys = {"exact": self.settings} | {f"datasets.{name}.exact": one for name, one in self.project.datasets.items()}
        asked = [key for key, of in keys.items() if of.exact is True]
        if asked and (reason := self.project.why_not_exact):
            raise InputError(f"{asked[0]}: {reason}. Leave the key out, or write `auto`: exact where that is possible.")

    def _tell_jobs(self, is_in_bucket: bool) -> None:
        """Tells jobs whether they may or must use a GPU, how many share one, and how they compute there."""
        settings = self.settings
        check_watchers(settings.watchers)
        values = {
            GPU: settings.gpu,
            JOBS_PER_GPU: settings.jobs_per_gpu,
            PLAIN_ON_GPU: ",".join(settings.plain_on_gpu),
            NUMBERS_AT_ONCE: settings.numbers_at_once,
            LOADER_THREADS: settings.loader_threads,
            WATCHERS: ",".join(settings.watchers),
            RESULTS: settings.results,
            **({CARRIES: 1} if is_in_bucket else {}),
        }
        os.environ.update({name: str(value) for name, value in values.items()})
