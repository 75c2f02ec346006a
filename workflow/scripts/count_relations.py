from densevse.language.triplets import write_relations
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_relations(
            snakemake.input.captions,
            list(snakemake.input.parses),
            snakemake.input.words,
            snakemake.input.vectors or None,
            snakemake.wildcards.dependencies,
            (snakemake.output.relations, snakemake.output.fragments),
        )
