# The average precision of SCO's concepts, its table, and pictures.

from densevse.analyses.concept_precision import dag

concept_precision = analyses.add(dag)


rule predicted_concepts:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        scores=path(
            "<results>/{dataset}/features/{concept_network}/concepts/{shard}.parquet",
            lambda dataset: project.shards(dataset, concept_network=project.datasets[dataset].networks["concepts"]),
        ),
        image_table="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
    output:
        report(
            "<results>/figures/{dataset}/concepts.png",
            caption="predicted_concepts.rst",
            category="Concepts",
            labels={"data set": "{dataset}"},
        ),
    log:
        "<logs>/predicted_concepts/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.concept_precision.precision:draw_predicted_concepts",
            lambda dataset: Job(
                {
                    "title": f"Concepts of images of {project.datasets[dataset].title}, with their scores",
                    "source_names": project.source_names(dataset),
                }
            ),
        ),
    message:
        "drawing the concepts of images of {wildcards.dataset}"
    script:
        RUNNER


rule concept_precision:
    input:
        images="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
        best_region=path(
            "<results>/{dataset}/features/{concept_network}/concepts/{shard}.parquet",
            lambda dataset: project.shards(dataset),
        ),
        whole_image=path(
            "<results>/{dataset}/features/{concept_network}/concepts_whole/{shard}.parquet",
            lambda dataset: project.shards(dataset),
        ),
    output:
        each="<results>/{dataset}/networks/{concept_network}_average_precision.parquet",
        mean="<results>/{dataset}/networks/{concept_network}_mean_average_precision.parquet",
    log:
        "<logs>/concept_precision/{dataset}_{concept_network}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.concept_precision.precision:write_average_precision"),
    message:
        "average precision of the concepts of {wildcards.dataset} by {wildcards.concept_network}"
    script:
        RUNNER


rule concept_table:
    input:
        concepts=rules.mine_concepts.output.concepts,
        precision=path(
            "<results>/{dataset}/networks/{concept_network}_average_precision.parquet",
            lambda dataset: {"concept_network": project.datasets[dataset].networks["concepts"]},
        ),
        mean=path(
            "<results>/{dataset}/networks/{concept_network}_mean_average_precision.parquet",
            lambda dataset: {"concept_network": project.datasets[dataset].networks["concepts"]},
        ),
    output:
        **table_pages("<results>/tables/{dataset}_concepts", "concepts.rst", table="concepts of {dataset}"),
    log:
        "<logs>/concept_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.concept_precision.precision:write_concept_table",
            lambda dataset: Job({"title": project.datasets[dataset].title}),
        ),
    message:
        "writing the table of the concepts of {wildcards.dataset}"
    script:
        RUNNER
