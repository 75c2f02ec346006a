# The places of phrases in images, by their scores with windows in a joint space of whole images (Kiros et al. 2014).

from densevse.config.registries import VIEWS
from densevse.analyses.localisation import dag

localisation = analyses.add(dag)


rule extract_windows:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        boxes=path("<results>/{dataset}/boxes.parquet", localisation.boxes),
        weights=path("<resources>/{network}/{file}", features.weights),
        precision=path("<results>/{dataset}/features/{network}/precision.parquet", features.precision),
    output:
        "<results>/{dataset}/windows/{network}/{view}.parquet",
    log:
        "<logs>/extract_windows/{dataset}_{network}_{view}.log",
    wildcard_constraints:
        view=name_pattern(name for name, one in VIEWS.items() if one.extracted and one.one_vector),
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        **calling("densevse.analyses.localisation.windows:extract_windows", localisation.windows_job),
        contents=contents_of("<resources>/{network}/{file}", features.weights),
    message:
        "{wildcards.view} features of windows of {wildcards.dataset} by {wildcards.network}"
    script:
        RUNNER


rule localise:
    input:
        image_table="<results>/{dataset}/images.parquet",
        boxes=path("<results>/{dataset}/boxes.parquet", localisation.boxes),
        windows=path("<results>/{dataset}/windows/{network}/{view}.parquet", localisation.windows),
        words=path(
            "<results>/{dataset}/vocabulary/words.parquet",
            lambda dataset: {"dataset": localisation.training_dataset(dataset)},
        ),
        model=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors",
            localisation.model,
        ),
    output:
        "<results>/{dataset}/localisation/{variant}/seed{seed}/round{round}/test.parquet",
    log:
        "<logs>/localise/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.localisation.localising:write_heat_maps", localisation.localise_job),
    message:
        "heat maps of phrases: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule localisation_table:
    input:
        heat_maps=path(
            "<results>/{dataset}/localisation/{variant}/seed{seed}/round{round}/test.parquet", localisation.last_round
        ),
        image_table="<results>/{dataset}/images.parquet",
    output:
        **table_pages(
            "<results>/tables/{dataset}_localisation_{variant}",
            "localisation.rst",
            table="localisation, {variant} on {dataset}",
        ),
        parquet="<results>/tables/{dataset}_localisation_{variant}.parquet",
    log:
        "<logs>/localisation_table/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.localisation.results:write_table",
            lambda dataset, variant: Job(
                {"title": f"Localisation of phrases: {localisation.title_of_variant(dataset, variant)}"}
            ),
        ),
    message:
        "writing the table of localisation: {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


rule localisation_figure:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        heat_maps=path(
            "<results>/{dataset}/localisation/{variant}/seed{seed}/round{round}/test.parquet", localisation.last_round
        ),
        image_table="<results>/{dataset}/images.parquet",
        boxes=path("<results>/{dataset}/boxes.parquet", localisation.boxes),
    output:
        report(
            "<results>/figures/{dataset}/{variant}/localisation.png",
            caption="localisation.rst",
            category="Localisation",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        "<logs>/localisation_figure/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.localisation.results:draw_heat_maps",
            lambda dataset, variant: Job(
                {
                    "source_names": project.source_names(dataset),
                    "title": localisation.title_of_variant(dataset, variant),
                }
            ),
        ),
    message:
        "drawing the places of phrases: {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER
