from densevse.language.corenlp_jars import get_corenlp
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        get_corenlp(snakemake.input.project, snakemake.output[0])
