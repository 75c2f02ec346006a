from densevse.language.tokens import write_tokens
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_tokens(snakemake.input.captions, snakemake.output[0])
