from densevse.analyses.concept_precision.precision import write_average_precision
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_average_precision(
            {name: snakemake.input[name] for name in ("images", "concepts", "image_concepts")},
            {"concepts": list(snakemake.input.best_region), "concepts_whole": list(snakemake.input.whole_image)},
            snakemake.output.each,
            snakemake.output.mean,
        )
