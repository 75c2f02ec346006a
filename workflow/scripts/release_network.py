from densevse.runtime.logs import job
from densevse.scenes.release import release

if __name__ == "__main__":
    with job(snakemake.log[0]):
        release(snakemake.input.weights, snakemake.input.history, snakemake.output.weights, snakemake.output.card)
