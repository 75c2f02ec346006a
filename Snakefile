# The whole pipeline, in order. A rule file is a stage or the papers' training; paths say what is inside:
# docs/artifacts.md lists them.
from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/core/common.smk"
# The stages of every method.
include: "workflow/rules/core/download.smk"
include: "workflow/rules/core/datasets.smk"
include: "workflow/rules/core/proposals.smk"
include: "workflow/rules/core/mcg.smk"
include: "workflow/rules/core/features.smk"
include: "workflow/rules/core/regions.smk"
include: "workflow/rules/core/scenes.smk"
include: "workflow/rules/core/parses.smk"
include: "workflow/rules/core/words.smk"
include: "workflow/rules/core/concepts.smk"
include: "workflow/rules/core/training.smk"
include: "workflow/rules/core/correspondences.smk"
include: "workflow/rules/core/retrieval.smk"
include: "workflow/rules/core/generators.smk"
include: "workflow/rules/core/region_phrases.smk"
include: "workflow/rules/core/tables.smk"
include: "workflow/rules/core/carried.smk"
include: "workflow/rules/core/everything.smk"
include: "workflow/rules/core/bucket.smk"
# Analyses: each line can be deleted, with the files that it includes.
include: "workflow/rules/analyses/proposal_recall.smk"
include: "workflow/rules/analyses/boundaries.smk"
include: "workflow/rules/analyses/relation_counts.smk"
include: "workflow/rules/analyses/concept_precision.smk"
include: "workflow/rules/analyses/training_curves.smk"
include: "workflow/rules/analyses/examples.smk"
include: "workflow/rules/analyses/phrases_and_regions.smk"
include: "workflow/rules/analyses/alignments.smk"
include: "workflow/rules/analyses/attention.smk"
include: "workflow/rules/analyses/arithmetic.smk"
include: "workflow/rules/analyses/localisation.smk"
include: "workflow/rules/analyses/caption_scores.smk"
include: "workflow/rules/analyses/human_judgements.smk"
include: "workflow/rules/analyses/votes.smk"
include: "workflow/rules/analyses/eccv_caption.smk"
include: "workflow/rules/analyses/claims.smk"
include: "workflow/rules/analyses/searches.smk"
include: "workflow/rules/analyses/needles.smk"
include: "workflow/rules/analyses/oracle_concepts.smk"
# Paths that no rule makes: errors with advice.
include: "workflow/rules/core/absent.smk"


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        f"{settings.results}/scenes.done",
