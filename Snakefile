# The whole pipeline, in order. A rule file is a stage or the papers' training; paths say what is inside:
# docs/architecture.md lists them.
from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
# The stages.
include: "workflow/rules/download.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/proposals.smk"
include: "workflow/rules/mcg.smk"
include: "workflow/rules/boundaries.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/regions.smk"
include: "workflow/rules/scenes.smk"
include: "workflow/rules/parses.smk"
include: "workflow/rules/words.smk"
include: "workflow/rules/concepts.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/correspondences.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/captions.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/agreement.smk"
include: "workflow/rules/votes.smk"
include: "workflow/rules/region_phrases.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/hm_lstm_figures.smk"
include: "workflow/rules/alignments.smk"
include: "workflow/rules/concept_figures.smk"
include: "workflow/rules/saliency.smk"
include: "workflow/rules/arithmetic.smk"
include: "workflow/rules/localisation.smk"
include: "workflow/rules/search.smk"
# What nothing makes.
include: "workflow/rules/absent.smk"


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        tables.of_dataset("scenes"),
        figures.of_dataset("scenes"),
        figures.of_phrases("scenes"),
        figures.of_alignments("scenes"),
        figures.of_saliency("scenes"),
        captions.table("scenes"),
        captions.figure("scenes"),
        searches.of_dataset("scenes"),
