# What every rule file uses: the validated settings, and the functions of densevse/dag that rules are made with.
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT))
# Jobs run in processes (and perhaps conda environments) of their own; they find the package by this.
os.environ.update(PYTHONPATH=str(ROOT))

from densevse.dag.concepts import Concepts
from densevse.dag.datasets import Datasets, Downloads
from densevse.dag.features import Features
from densevse.dag.generators import Generators
from densevse.dag.language import Parses, Words
from densevse.dag.analyses import Analyses
from densevse.dag.own_files import OwnFiles
from densevse.dag.paths import Paths, configured, planned
from densevse.dag.project import Project, any_of
from densevse.dag.proposals import Proposals
from densevse.dag.records import keep_records, read_only
from densevse.dag.tables import Tables, check_tables
from densevse.dag.training import Training
from densevse.config.environment import JOB_ENVIRONMENT

for name, value in JOB_ENVIRONMENT.items():
    os.environ.setdefault(name, value)

project = Project(ROOT, config)
check_tables(project)
settings = project.config
for warning in read_only(settings.results, settings.resources):
    logger.warning(warning)
keep_records(settings.results)
code_of = project.code.digest

own_files = OwnFiles(project)
downloads, datasets, proposals = Downloads(project), Datasets(project), Proposals(project)
features, parses, words = Features(project), Parses(project), Words(project)
concepts, generators = Concepts(project), Generators(project)
training, tables = Training(project), Tables(project)
analyses = Analyses()

# In paths of rules, <results> and the like stand for these.
folders = {
    "project": os.path.relpath(ROOT),
    "results": settings.results,
    "resources": settings.resources,
    "logs": f"{settings.results}/logs",
    "model": "<results>/{dataset}/models/{variant}/seed{seed}",
}
filled = Paths(**folders).filled


pathvars:
    **folders,


wildcard_constraints:
    dataset=any_of(project.datasets),
    network=features.named(),
    concept_network=concepts.names(),
    proposer=any_of(settings.proposers),
    parser=any_of(settings.parsers),
    vectors=any_of(settings.word_vectors),
    ensemble=any_of(settings.ensembles()),
    variant=any_of(settings.variant_names()),
    generator=generators.names(),
    view=features.extracted(),
    shard=r"\d+-of-\d+",
    seed=r"\d+",
    round=r"\d+",
