from densevse.logs import job
from densevse.training.data import Files
from densevse.training.region_ranking import rank_regions

if __name__ == "__main__":
    with job(snakemake.log[0]):
        rank_regions(
            files=Files.of(dict(snakemake.input.items())),
            model=snakemake.input.model,
            true_regions=snakemake.input.true_regions,
            boxes=snakemake.input.boxes,
            threads=snakemake.params.threads,
            output=snakemake.output[0],
            made_from={"split": "test"},
        )
