from densevse.analyses.localisation.localising import write_heat_maps
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, cells, threads, output):
    parents = {"model": files["model"], "windows": files["windows"], "boxes": files["boxes"]}
    write_heat_maps(files, cells, set_up(threads), output, lineage({"cells": cells}, parents))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(dict(snakemake.input.items()), snakemake.params.cells, snakemake.params.threads, snakemake.output[0])
