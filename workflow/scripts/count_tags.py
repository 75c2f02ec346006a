from densevse.language.tags import write_tags
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_tags(snakemake.input.captions, list(snakemake.input.parses), snakemake.output[0])
