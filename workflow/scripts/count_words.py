from densevse.language.words import write_words
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_words(snakemake.input.tokens, snakemake.output[0], snakemake.params.minimum)
