from densevse.analyses.boundaries.bsds import photographs
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.shards import contour_maps


def main(folder, model, options, threads, path):
    set_up(threads)
    maps = contour_maps(photographs(folder), {"images": f"{folder}/images"}, model, options)
    write(maps, CONTOURS, path, lineage(options))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.folder,
            snakemake.input.model,
            snakemake.params.options,
            snakemake.params.threads,
            snakemake.output[0],
        )
