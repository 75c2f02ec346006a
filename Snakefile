# The whole pipeline, in order. A rule file is a stage or the papers' training; paths say what is inside:
# docs/architecture.md lists them.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


# Functions from wildcards to files and settings; the rules below use them.
include: "workflow/inputs/common.smk"
include: "workflow/inputs/download.smk"
include: "workflow/inputs/datasets.smk"
include: "workflow/inputs/scenes.smk"
include: "workflow/inputs/proposals.smk"
include: "workflow/inputs/features.smk"
include: "workflow/inputs/regions.smk"
include: "workflow/inputs/parses.smk"
include: "workflow/inputs/words.smk"
include: "workflow/inputs/training.smk"
include: "workflow/inputs/correspondences.smk"
include: "workflow/inputs/retrieval.smk"
include: "workflow/inputs/tables.smk"
include: "workflow/inputs/figures.smk"
include: "workflow/inputs/region_phrases.smk"
include: "workflow/inputs/hm_lstm_figures.smk"
# The stages.
include: "workflow/rules/download.smk"
include: "workflow/rules/datasets.smk"
include: "workflow/rules/proposals.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/regions.smk"
include: "workflow/rules/scenes.smk"
include: "workflow/rules/parses.smk"
include: "workflow/rules/words.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/correspondences.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/region_phrases.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/hm_lstm_figures.smk"


report: "workflow/report/workflow.rst"


rule all:
    default_target: True
    input:
        tables("scenes"),
        region_tables("scenes"),
        figures("scenes"),
        hm_lstm_figures("scenes"),
