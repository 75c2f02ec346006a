from densevse.analyses.alignments.accuracy import write_alignment_accuracy
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_alignment_accuracy(
            snakemake.input.alignments,
            snakemake.input.boxes,
            snakemake.input.caption_table,
            list(snakemake.input.regions),
            snakemake.output[0],
            lineage({}, {"alignments": snakemake.input.alignments, "boxes": snakemake.input.boxes}),
        )
