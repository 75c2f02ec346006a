# Shared by all files of rules: the validated settings, the stages of the pipeline, and what rules are made with.
import sys
from functools import partial
from pathlib import Path

ROOT = Path(workflow.basedir)
if (ROOT / "densevse").is_dir():  # Else densevse is installed, and found without this.
    if installed := [path for path in sys.path if Path(path, "densevse/_project").is_dir()]:
        raise ImportError(
            f"{ROOT} is a checkout, but {installed[0]} has another densevse: use the checkout's environment, or remove "
            f"that copy by `{sys.executable} -m pip uninstall densevse` and run `{sys.executable} envs/command.py` here."
        )
    # The project's folder comes last, so that no file in it stands in for an installed package; other checkouts leave.
    sys.path[:] = [*(path for path in sys.path if not Path(path, "densevse/__init__.py").is_file()), str(ROOT)]

from snakemake.cli import args_to_api
from snakemake.io import regex_from_filepattern

from densevse.dag import concepts, datasets, downloads, ensembles, features, generators
from densevse.dag import inputs, proposals, rows, tables, training
from densevse.dag.downloads import entry_file
from densevse.dag.project import Analyses, Stage, name_pattern, wildcard_patterns
from densevse.dag.start import Start
from densevse.dag.targets import Known, OwnFiles, UnknownTargets
from densevse.report.start_page import start_page  # the report's first page: see workflow/report/workflow.rst
from snakeproof.bucket import missing_finder
from snakeproof.contents import Marks
from snakeproof.jobs import Job, growing
from snakeproof.options import find_options
from snakeproof.paths import from_wildcards, uncompared_param

marks = Marks(timeless=ancient, here=local, in_bucket=storage)
start = Start(workflow, config, find_options(args_to_api), marks, regex_from_filepattern, logger)
project, settings, calls, makers = start.project, start.settings, start.calls, start.makers

# Functions of params and of paths.
calling, calling_once = calls.calling, calls.calling_once
path, local_path = start.paths.path, start.paths.local_path
contents_of, contents_of_each = start.paths.contents, start.paths.contents_of_each

# The stages, whose functions know files and settings from a job's wildcards.
downloads, datasets, proposals = Stage(project, downloads), Stage(project, datasets), Stage(project, proposals)
features, concepts, inputs = Stage(project, features), Stage(project, concepts), Stage(project, inputs)
training, generators, ensembles = Stage(project, training), Stage(project, generators), Stage(project, ensembles)
rows, own_files, analyses = Stage(project, rows), OwnFiles(project, missing_finder(storage)), Analyses(project)
tables = analyses.add(tables)

# Rules name these in full, as a folder of an analysis lies elsewhere in a checkout than in an installed package.
RUNNER, ENVS, ANALYSES = start.runner, start.environments, start.analyses


pathvars:
    **start.folders,


wildcard_constraints:
    **wildcard_patterns(project),
