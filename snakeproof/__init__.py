"""Makes the results of Snakemake exact: an output says what it was made from, and nothing else is believed."""
