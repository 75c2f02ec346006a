# Shared by all files of rules: the validated settings, the stages of the pipeline, and what rules are made with.
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
if (ROOT / "densevse").is_dir():  # Else densevse is installed, and found without this.
    if installed := [path for path in sys.path if Path(path, "densevse/_project").is_dir()]:
        raise ImportError(
            f"{ROOT} is a checkout, but {installed[0]} has another densevse: use the checkout's environment."
        )
    # The project's folder comes last, so that no file in it stands in for an installed package; other checkouts leave.
    sys.path[:] = [*(path for path in sys.path if not Path(path, "densevse/__init__.py").is_file()), str(ROOT)]

from snakemake.cli import args_to_api
from snakemake.io import regex_from_filepattern

from densevse.dag.datasets import DatasetStage, DownloadStage, entry_file
from densevse.dag.ensembles import EnsembleStage
from densevse.dag.features import FeatureStage, ProposalStage, find_proposers
from densevse.dag.inputs import ConceptStage, ParseStage, VocabularyStage
from densevse.dag.project import Analyses, name_pattern, wildcard_patterns
from densevse.dag.rows import GivenStage
from densevse.dag.start import Start
from densevse.dag.tables import TableStage
from densevse.dag.targets import Known, OwnFileStage, TargetStage
from densevse.dag.training import GeneratorStage, TrainingStage
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


def table_pages(path, caption, category="Tables", **labels):
    """A table's three pages, at a path without ending; the report shows the HTML, with these labels."""
    page = report(f"{path}.html", caption=caption, category=category, labels=labels)
    return {"markdown": f"{path}.md", "html": page, "latex": f"{path}.tex"}


def table_files(path, caption, category="Tables", **labels):
    """A table's five files: its pages and its rows, as CSV and as Parquet."""
    pages = table_pages(path, caption, category, **labels)
    return {**pages, "csv": f"{path}.csv", "parquet": f"{path}.parquet"}


# The stages, each of which knows its files and settings from a job's wildcards.
downloads, datasets, proposals = DownloadStage(project), DatasetStage(project), ProposalStage(project)
features, parses, words = FeatureStage(project), ParseStage(project), VocabularyStage(project)
concepts, generators, training = ConceptStage(project), GeneratorStage(project), TrainingStage(project)
given, ensembles, tables = GivenStage(project), EnsembleStage(project), TableStage(project)
own_files, analyses = OwnFileStage(project, missing_finder(storage)), Analyses()

# Rules name these in full, as a folder of an analysis lies elsewhere in a checkout than in an installed package.
RUNNER, ENVS, ANALYSES = start.runner, start.environments, start.analyses


pathvars:
    **start.folders,


wildcard_constraints:
    **wildcard_patterns(project),
