from densevse.artifacts.identity import Identity
from densevse.evaluation.region_ranking import rank_regions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        rank_regions(
            embeddings=snakemake.input.embeddings,
            true_regions=snakemake.input.true_regions,
            boxes=snakemake.input.boxes,
            output=snakemake.output[0],
            of=Identity.of(snakemake.wildcards, protocol="regions", split="test"),
        )
