# Shared by all rule files: the validated settings, and the functions of densevse/dag with which rules are made.
import os
import sys
from pathlib import Path
from typing import get_args

ROOT = Path(workflow.basedir)
if (ROOT / "densevse").is_dir():  # Else densevse is installed, and found without this.
    if installed := [path for path in sys.path if Path(path, "densevse/_project").is_dir()]:
        raise ImportError(
            f"{ROOT} is a checkout, but {installed[0]} has another densevse, whose jobs these would be. Call "
            "`densevse run` for the installed one, or start Snakemake in the environment of the checkout."
        )
    # The project's folder comes last, so that no file in it stands in for an installed package; other checkouts leave.
    sys.path[:] = [*(path for path in sys.path if not Path(path, "densevse/__init__.py").is_file()), str(ROOT)]

from snakemake.cli import args_to_api
from snakemake.io import regex_from_filepattern

from snakeproof.bucket import Bucket, BucketRecords, missing_by
from snakeproof.contents import Contents, Marks, Uploads, link_folders
from densevse.dag.datasets import DatasetStage, DownloadStage, file_of
from snakeproof.dates import dated_in_the_future, settle_dates
from densevse.dag.features import FeatureStage, ProposalStage, proposers_of
from densevse.dag.inputs import ConceptStage, ParseStage, VocabularyStage
from snakeproof.jobs import Calls, Job, growing
from snakeproof.options import ADOPTS, check_options, parsed_by
from snakeproof.paths import Paths, configured, uncompared
from densevse.dag.project import Analyses, Project, any_of
from snakeproof.records import (
    doubt_files,
    doubted_warning,
    keep_records,
    older_files,
    older_warning,
    read_only,
)
from densevse.dag.ensembles import EnsembleStage
from densevse.dag.rows import GivenStage
from snakeproof.run_lock import RunLock, lock_folders
from snakeproof.statements import CARRIES, RESULTS
from snakeproof.signals import end_by_signals
from densevse.dag.tables import TableStage, check_tables
from densevse.dag.targets import Known, Makers, OwnFileStage, TargetStage
from densevse.dag.training import GeneratorStage, TrainingStage
from snakeproof.unchanged import put_aside, remove_aside
from densevse.config.environment import JOB_ENVIRONMENT, check_deployment, check_place, check_watchers
from snakeproof.yaml_files import check_configfiles
from densevse.config.tables import Protocol
from densevse.config.registries import VIEWS
from densevse.runtime.project import (
    GPU,
    JOBS_PER_GPU,
    LOADER_THREADS,
    NUMBERS_AT_ONCE,
    PACKAGE,
    PLAIN_ON_GPU,
    WATCHERS,
)

# Writes the report's first page: see workflow/report/workflow.rst.
from densevse.report.start_page import start_page

for name, value in JOB_ENVIRONMENT.items():
    os.environ.setdefault(name, value)

ADOPT = "densevse adopt (with your --configfile)"
check_options(parsed_by(args_to_api), "densevse adopt")
check_place(str(ROOT), sys.executable)
check_deployment(str(ROOT), map(str, workflow.deployment_settings.deployment_method))
check_configfiles(workflow.configfiles)

# Where results lie in a bucket (--default-storage-provider), this knows it; else it is None.
bucket = Bucket.of(workflow)

makers = Makers(workflow, regex_from_filepattern, bucket.place if bucket else str)
marks = Marks(timeless=ancient, here=local, in_bucket=storage)
contents = Contents(".snakemake/densevse-contents", is_made=makers.make, marks=marks, say=logger.info)
project = Project(ROOT, config, contents)
check_tables(project)
settings = project.config
# Tell jobs whether they may or must use a GPU, how many share one, and how they compute there.
os.environ.update({GPU: str(settings.gpu), JOBS_PER_GPU: str(settings.jobs_per_gpu), RESULTS: settings.results})
os.environ.update({PLAIN_ON_GPU: ",".join(settings.plain_on_gpu), NUMBERS_AT_ONCE: str(settings.numbers_at_once)})
check_watchers(settings.watchers)
os.environ.update({LOADER_THREADS: str(settings.loader_threads), WATCHERS: ",".join(settings.watchers)})
for warnings in (read_only, dated_in_the_future):
    for warning in warnings(settings.results, settings.resources):
        logger.warning(warning)
if bucket is None:
    keep_records(settings.results)
else:
    contents.uploads = Uploads(settings.resources)
    os.environ[CARRIES] = "1"
calls = Calls(project.code)
calling, calling_once = calls.calling, calls.calling_once


# Rules name these in full, as a folder of an analysis lies elsewhere in a checkout than in an installed package.
RUNNER = str(ROOT / "workflow/scripts/job.py")
ENVS = str(ROOT / "envs")
ANALYSES = str(PACKAGE / "analyses")

own_files = OwnFileStage(project, missing_by(storage))
downloads, datasets, proposals = DownloadStage(project), DatasetStage(project), ProposalStage(project)
features, parses, words = FeatureStage(project), ParseStage(project), VocabularyStage(project)
concepts, generators = ConceptStage(project), GeneratorStage(project)
training, given, tables = TrainingStage(project), GivenStage(project), TableStage(project)
ensembles = EnsembleStage(project)
analyses = Analyses()

# The values of <results> and others in paths of rules.
folders = {
    **link_folders(project=ROOT, package=PACKAGE),
    "results": settings.results,
    "resources": settings.resources,
    "logs": f"{settings.results}/logs",
    "model": "<results>/{dataset}/models/{variant}/seed{seed}",
}
paths = Paths(project.contents, **folders)
path, local_path = paths.path, paths.local_path
contents_of, contents_of_each = paths.contents, paths.contents_of_each


pathvars:
    **folders,


wildcard_constraints:
    dataset=any_of(project.datasets),
    network=any_of(
        [*settings.networks, *(name for name, one in settings.concept_networks.items() if one.train == "all")]
    ),
    concept_network=any_of(settings.concept_networks),
    proposer=any_of(settings.proposers),
    parser=any_of(settings.parsers),
    vectors=any_of(settings.word_vectors),
    ensemble=any_of(settings.ensembles()),
    variant=any_of(settings.variant_names()),
    protocol=any_of(name for name in get_args(Protocol) if name != "regions"),
    generator=any_of(settings.generator_names()),
    view=any_of(name for name, one in VIEWS.items() if one.extracted),
    shard=r"\d+-of-\d+",
    seed=r"\d+",
    round=r"\d+",
