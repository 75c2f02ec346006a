"""The papers' models and losses, as modules on tensors: no files, no configuration, no Snakemake."""
