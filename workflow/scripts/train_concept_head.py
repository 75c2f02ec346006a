from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.training.concepts import ConceptFiles, ConceptJob, train_head

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train_head(
            {name: snakemake.input[name] for name in ("images", "concepts", "image_concepts")},
            list(snakemake.input.regions),
            validate(ConceptJob, {**snakemake.params.training, "code": snakemake.params.code}, "concept_networks"),
            ConceptFiles(**snakemake.output),
        )
