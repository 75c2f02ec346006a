from densevse.inference.concepts import score_concepts
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up_processor

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up_processor(snakemake.params.threads)
        score_concepts(
            snakemake.wildcards.concept_network,
            snakemake.input.regions,
            snakemake.input.weights,
            snakemake.params.train,
            dict(snakemake.output.items()),
        )
