"""Guards a workflow whose results are in a folder: all that its rules and its hooks need, in one object.

    guard = Guard(workflow, parsed_by(args_to_api), ["my_package"], Marks(timeless=ancient), logger)

A workflow with more, such as results in a bucket, puts the same parts together by itself.
"""

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snakeproof.bucket import Bucket
from snakeproof.code import Code
from snakeproof.contents import Contents, Marks
from snakeproof.errors import InputError
from snakeproof.jobs import Calls
from snakeproof.options import ADOPTS, check_options
from snakeproof.paths import Paths
from snakeproof.runs import Run
from snakeproof.statements import RESULTS
from snakeproof.yaml_files import check_configfiles

ADOPT = f"{ADOPTS}=1 snakemake --cores 1 --touch --forceall --nolock"
"""The command that adopts files: Snakemake plans all jobs, and starts none."""


class Guard:
    """What the rules of a Snakemake `workflow` are made with (`calls`, `paths`), and its run.

    The folders are Snakemake's `pathvars`: rules make files in <results>, and the user's files are in <resources>.
    """

    def __init__(self, workflow: Any, options: Namespace, packages: Sequence[str], marks: Marks, logger: Any) -> None:
        """`options` are those of this process (`parsed_by`), and `packages` the project's, beside the Snakefile.

        Raises `InputError` that names what is wrong with the options or the configuration.
        """
        check_options(options, ADOPT)
        check_configfiles(workflow.configfiles)
        if Bucket.of(workflow):
            raise InputError("--default-storage-provider: the results of this workflow are in a folder; leave it out.")
        self._workflow, self._logger = workflow, logger
        contents = Contents(is_made=self._is_made, marks=marks, say=logger.info)
        self.paths = Paths(contents, **workflow.pathvars.items)
        self.calls = Calls(Code(Path(workflow.basedir), packages, ".snakemake/snakeproof-code.json"))
        results = self.paths.below("<results>")
        os.environ[RESULTS] = results  # for the jobs
        self._run = Run(workflow, {"results": results}, None, logger.warning) if workflow.is_main_process else None

    def doubt(self) -> None:
        """Lets the jobs of files in doubt be planned. Call this below all rules, as they say what they make."""
        if self._run:
            self._run.doubt(self._is_made, ADOPT)

    def begin(self) -> None:
        """Prepares the planned jobs, in the hook `onstart`. Raises `InputError` if another run is in progress."""
        if self._run:
            self._run.begin()

    def succeed(self) -> None:
        """Ends a run, in the hook `onsuccess`. Raises `InputError` if another process has replaced an output."""
        if self._run:
            self._run.end()
            self._run.check()

    def fail(self) -> None:
        """Ends a run and repeats the errors of its jobs, in the hook `onerror`."""
        if self._run:
            self._run.end()
            for message in self._run.errors():
                self._logger.error(f"\n{message}")

    def _is_made(self, path: str) -> bool:
        """True for a path that a rule makes."""
        return any(rule.is_producer(path) for rule in self._workflow.rules)
