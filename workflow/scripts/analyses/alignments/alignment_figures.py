from densevse.analyses.alignments.figures import draw_alignments, draw_triplet_regions
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        sources = dict(zip(snakemake.params.sources, snakemake.input.sources, strict=True))
        draw_alignments(
            snakemake.input.alignments,
            snakemake.input.retrieval,
            snakemake.input.image_table,
            snakemake.input.caption_table,
            sources,
            snakemake.params.title,
            snakemake.output.sentences,
        )
        draw_triplet_regions(
            snakemake.input.triplet_regions,
            snakemake.input.image_table,
            sources,
            snakemake.params.title,
            snakemake.output.triplets,
        )
