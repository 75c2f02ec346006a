from densevse.analyses.searches.own import write_photographs
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_photographs(snakemake.input.photographs, snakemake.threads, snakemake.output[0])
