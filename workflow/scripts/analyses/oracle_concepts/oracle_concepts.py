from densevse.analyses.oracle_concepts.oracle import write_oracle
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_oracle(
            concepts=snakemake.input.concepts,
            image_concepts=snakemake.input.image_concepts,
            wanted=snakemake.params.options["mean_average_precision"],
            seed=snakemake.params.options["seed"],
            scores=snakemake.output.scores,
            ids=snakemake.output.ids,
        )
