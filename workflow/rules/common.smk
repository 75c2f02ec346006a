# What every rule file uses: the validated settings, and the functions of densevse/plan that rules are made with.
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT))
# Jobs run in processes (and perhaps conda environments) of their own; they find the package by this.
os.environ.update(PYTHONPATH=str(ROOT))

from densevse.plan.arithmetic import Arithmetic
from densevse.plan.ballots import Ballots
from densevse.plan.captions import Captions
from densevse.plan.concepts import Concepts
from densevse.plan.datasets import Datasets, Downloads
from densevse.plan.features import Features
from densevse.plan.figures import Figures
from densevse.plan.generators import Generators
from densevse.plan.language import Parses, Words
from densevse.plan.localisation import Localisation
from densevse.plan.own_files import OwnFiles
from densevse.plan.project import Project, any_of
from densevse.plan.proposals import Proposals
from densevse.plan.records import keep_records, read_only
from densevse.plan.searches import Searches
from densevse.plan.tables import Tables, check_tables
from densevse.plan.training import Training
from densevse.settings.environment import JOB_ENVIRONMENT

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
concepts = Concepts(project)
generators, captions = Generators(project), Captions(project)
training, tables, figures = Training(project), Tables(project), Figures(project)
ballots = Ballots(project)
searches, arithmetic, localisation = Searches(project), Arithmetic(project), Localisation(project)


# In paths of rules, <results> and the like stand for these.
pathvars:
    results=settings.results,
    resources=settings.resources,
    logs=f"{settings.results}/logs",
    model="<results>/{dataset}/models/{variant}/seed{seed}",


wildcard_constraints:
    dataset=any_of(project.datasets),
    network=features.named(),
    concept_network=concepts.names(),
    proposer=any_of(settings.proposers),
    parser=any_of(settings.parsers),
    vectors=any_of(settings.word_vectors),
    ensemble=any_of(settings.ensembles()),
    other=any_of(settings.variant_names()),
    variant=any_of(settings.variant_names()),
    generator=generators.names(),
    writer=captions.writers(),
    view="whole|centre|ten_crop|grid",
    shard=r"\d+-of-\d+",
    seed=r"\d+",
    round=r"\d+",
    search=searches.names(),
