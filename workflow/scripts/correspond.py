from densevse.logs import job
from densevse.training.correspondences import write_correspondences
from densevse.training.data import Files

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_correspondences(
            files=Files.of(dict(snakemake.input.items())),
            model=snakemake.input.previous,
            threads=snakemake.params.threads,
            output=snakemake.output[0],
            made_from={"round": snakemake.params.round, "settings": {"candidates": snakemake.params.candidates}},
        )
