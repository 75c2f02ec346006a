from densevse.runtime.logs import job
from densevse.vision.mcg.hed import get_hed

if __name__ == "__main__":
    with job(snakemake.log[0]):
        get_hed(snakemake.input.requirements, snakemake.output[0])
