from densevse.language.maven import get_jars
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        get_jars(snakemake.input.project, snakemake.output[0])
