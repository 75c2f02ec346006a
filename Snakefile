# The whole pipeline, in order. A rule file is a stage or the papers' training; paths say what is inside:
# docs/artifacts.md lists them.
from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/core/common.smk"
include: "workflow/rules/core/table_files.smk"
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
include: "workflow/rules/core/exchange.smk"
include: "workflow/rules/core/everything.smk"
include: "workflow/rules/core/bucket.smk"
include: "workflow/rules/core/runs.smk"
# Analyses: each line can be deleted, with the files that it includes.
include: f"{ANALYSES}/proposal_recall/rules.smk"
include: f"{ANALYSES}/boundaries/rules.smk"
include: f"{ANALYSES}/relation_counts/rules.smk"
include: f"{ANALYSES}/concept_precision/rules.smk"
include: f"{ANALYSES}/training_curves/rules.smk"
include: f"{ANALYSES}/examples/rules.smk"
include: f"{ANALYSES}/phrases_and_regions/rules.smk"
include: f"{ANALYSES}/alignments/rules.smk"
include: f"{ANALYSES}/attention/rules.smk"
include: f"{ANALYSES}/arithmetic/rules.smk"
include: f"{ANALYSES}/localisation/rules.smk"
include: f"{ANALYSES}/caption_scores/rules.smk"
include: f"{ANALYSES}/human_judgements/rules.smk"
include: f"{ANALYSES}/votes/rules.smk"
include: f"{ANALYSES}/eccv_caption/rules.smk"
include: f"{ANALYSES}/cxc/rules.smk"
include: f"{ANALYSES}/plausible_matches/rules.smk"
include: f"{ANALYSES}/claims/rules.smk"
include: f"{ANALYSES}/searches/rules.smk"
include: f"{ANALYSES}/needles/rules.smk"
include: f"{ANALYSES}/oracle_concepts/rules.smk"
include: f"{ANALYSES}/cross_fitting/rules.smk"
include: f"{ANALYSES}/effort/rules.smk"
include: f"{ANALYSES}/perplexity/rules.smk"
include: f"{ANALYSES}/choices/rules.smk"
# Paths that no rule makes: errors with advice.
include: "workflow/rules/core/absent.smk"


for each in workflow.rules:
    if each.message and each.log:
        each.message += "\n    log: {log}"


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        f"{settings.results}/scenes.done",
        # Those that it lists, too: a deleted one would stay away while the list is there.
        lambda wildcards: analyses.target_files("scenes"),
