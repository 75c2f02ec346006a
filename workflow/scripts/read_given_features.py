from densevse.runtime.logs import job
from densevse.vision.given_features import read_given_features

if __name__ == "__main__":
    with job(snakemake.log[0]):
        read_given_features(
            snakemake.input.image_table,
            snakemake.params.options,
            dict(zip(snakemake.params.names, snakemake.input.files, strict=True)),
            snakemake.input.whole or None,
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
