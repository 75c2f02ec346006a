from densevse.language.word_vectors import write_word_vectors
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_word_vectors(
            snakemake.input.words,
            snakemake.input.vectors,
            snakemake.wildcards.vectors,
            snakemake.params.vectors,
            snakemake.output[0],
        )
