from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.shards import remove_superseded, shard_slice
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.shards import contour_maps


def main(image_table, sources, model, options, shard, threads, path):
    set_up(threads)
    images = read(image_table, IMAGES)
    maps = contour_maps(images.iloc[shard_slice(shard, len(images))], sources, model, options)
    write(maps, CONTOURS, path, lineage(options, {"images": image_table}))
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.image_table,
            dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True)),
            snakemake.input.model,
            snakemake.params.options,
            snakemake.wildcards.shard,
            snakemake.params.threads,
            snakemake.output[0],
        )
