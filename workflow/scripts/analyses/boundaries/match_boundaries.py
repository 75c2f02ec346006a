from densevse.analyses.boundaries.matching import of_folder
from densevse.analyses.boundaries.schemas import BOUNDARY_MATCHES
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.contours import CONTOURS
from densevse.runtime.logs import job


def main(folder, contours, superpixels, processes, path):
    found = of_folder(folder, read(contours, CONTOURS), superpixels, processes)
    write(found, BOUNDARY_MATCHES, path, lineage({"superpixels": superpixels}, {"contours": contours}))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.folder,
            snakemake.input.contours,
            snakemake.params.superpixels,
            snakemake.threads,
            snakemake.output[0],
        )
