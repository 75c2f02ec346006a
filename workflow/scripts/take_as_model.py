from densevse.inference.untrained import write_untrained
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up_processor

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up_processor(snakemake.threads)
        write_untrained(
            snakemake.params.method,
            snakemake.params.parameters,
            snakemake.params.networks,
            snakemake.input.weights,
            snakemake.output[0],
        )
