from densevse.analyses.attention.scores import write_score
from densevse.artifacts.lineage import lineage
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        saliency, boxes, images = (snakemake.input[name] for name in ("saliency", "boxes", "image_table"))
        made_from = lineage({}, {"saliency": saliency, "boxes": boxes, "images": images})
        write_score(saliency, boxes, images, snakemake.output[0], made_from)
