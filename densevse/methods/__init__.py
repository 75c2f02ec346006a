"""The papers: modules and losses on tensors. No files, no configuration, no Snakemake."""
