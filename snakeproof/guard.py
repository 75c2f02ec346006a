"""Guards a workflow whose results are in a folder: all that its rules and its hooks need, in one object.

    guard = Guard(workflow, find_options(args_to_api), ["my_package"], Marks(timeless=ancient), logger)

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
from snakeproof.options import ADOPT, check_options
from snakeproof.paths import Paths
from snakeproof.runs import Run
from snakeproof.statements import RESULTS
from snakeproof.yaml_files import check_configfiles


class Guard:
    """What the rules of a Snakemake `workflow` are made with (`calls`, `paths`), and its `run`, for the hooks.

    The folders are Snakemake's `pathvars`: rules make files in <results>, and the user's files are in <resources>.
    """

    def __init__(self, workflow: Any, options: Namespace, packages: Sequence[str], marks: Marks, logger: Any) -> None:
        """`options` are those of this process (`find_options`), and `packages` the project's, beside the Snakefile.

        Raises `InputError` that names what is wrong with the options or the configuration.
        """
        check_options(options, ADOPT)
        check_configfiles(workflow.configfiles)
        if Bucket.from_workflow(workflow):
            raise InputError("--default-storage-provider: the results of this workflow are in a folder; leave it out.")

        def is_made(path: str) -> bool:
            return any(rule.is_producer(path) for rule in workflow.rules)

        self.paths = Paths(Contents(is_made=is_made, marks=marks, say=logger.info), **workflow.pathvars.items)
        self.calls = Calls(Code(Path(workflow.basedir), packages, ".snakemake/snakeproof-code.json"))
        results = self.paths.expand_pathvars("<results>")
        os.environ[RESULTS] = results  # for the jobs
        self.run = Run(workflow, {"results": results}, is_made, logger, is_dry_run=options.dryrun)
