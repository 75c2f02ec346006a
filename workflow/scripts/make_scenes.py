from densevse.datasets.scenes import generate
from densevse.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        generate(snakemake.params.options, snakemake.output[0], snakemake.threads)
