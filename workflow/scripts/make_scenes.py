from densevse.runtime.logs import job
from densevse.scenes.reader import generate

if __name__ == "__main__":
    with job(snakemake.log[0]):
        generate(snakemake.params.options, snakemake.output[0], snakemake.threads)
