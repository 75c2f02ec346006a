# Searches by a trained model with a person's own sentences and photographs. These go through the same stages as a data
# set: sentences are in results/search/<name>/, photographs in results/search/photographs/.

from densevse.analyses.searches import dag
from densevse.analyses.searches.settings import OwnData, SearchSettings, sentence_folder

searches = analyses.add(dag)
asked = settings.analysis(SearchSettings).root
own = {name: one for name, one in project.datasets.items() if isinstance(one, OwnData)}


rule own_photographs:
    input:
        photographs=path("{own_folder}", lambda dataset: own[dataset].local["photographs"]),
    output:
        "<results>/{dataset}/images.parquet",
    log:
        "<logs>/own_photographs/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in own.items() if one.local),
    conda:
        f"{ENVS}/base.yaml"
    threads: 2
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.searches.own:write_photographs"),
        contents=contents_of("{own_folder}", lambda dataset: own[dataset].local["photographs"]),
    message:
        "reading your photographs: {input.photographs}"
    script:
        RUNNER


rule own_sentences:
    output:
        "<results>/{dataset}/captions.parquet",
    log:
        "<logs>/own_sentences/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in own.items() if not one.local),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling(
            "densevse.analyses.searches.own:write_sentences",
            lambda dataset: Job({"sentences": asked[dataset.removeprefix(sentence_folder(""))].sentences}),
        ),
    message:
        "reading your sentences of {wildcards.dataset}"
    script:
        RUNNER


rule encode_images:
    input:
        unpack(searches.inputs_of_images),
        model=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors",
            training.trained_model,
        ),
    output:
        "<results>/{dataset}/encodings/{variant}/seed{seed}/round{round}/{split}.parquet",
    log:
        "<logs>/encode_images/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.models.encodings:encode_split", training.model_job),
    message:
        "encoding the {wildcards.split} images of {wildcards.dataset} by {wildcards.variant}"
    script:
        RUNNER


rule search:
    input:
        unpack(searches.inputs_of_sentences),
        encodings=path(
            "<results>/{dataset}/encodings/{variant}/seed{seed}/round{round}/{split}.parquet", searches.encodings
        ),
        model=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", searches.search_model
        ),
    output:
        "<results>/search/{search}.parquet",
    log:
        "<logs>/search/{search}.log",
    wildcard_constraints:
        search=name_pattern(name for name, one in asked.items() if one.variant not in settings.given_rows()),
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(lambda search: project.threads(asked[search].dataset))
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.searches.searching:write_answers", searches.job),
    message:
        "searching: {wildcards.search}"
    script:
        RUNNER


rule search_given:
    input:
        image_table=path("<results>/{dataset}/images.parquet", searches.image_table),
        caption_table=path("<results>/{dataset}/captions.parquet", searches.image_table),
        images=path("{own_file}", lambda search: searches.given_files(search).get("images")),
        sentences=path("{own_file}", lambda search: searches.given_files(search).get("sentences")),
        image_ids=path("{own_file}", lambda search: searches.given_files(search).get("image_ids")),
        caption_ids=path("{own_file}", lambda search: searches.given_files(search).get("caption_ids")),
        vectors=path("{own_file}", lambda search: searches.given_files(search).get("vectors")),
    output:
        "<results>/search/{search}.parquet",
    log:
        "<logs>/search_given/{search}.log",
    wildcard_constraints:
        search=name_pattern(name for name, one in asked.items() if one.variant in settings.given_rows()),
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(lambda search: project.threads(asked[search].dataset))
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.searches.searching:write_given_answers", searches.given_job),
        contents=contents_of("{own_file}", lambda search: list(searches.given_files(search).values())),
    message:
        "searching vectors from elsewhere: {wildcards.search}"
    script:
        RUNNER


rule search_pages:
    input:
        sources=path("<resources>/{dataset}/{file}", searches.sources),
        found="<results>/search/{search}.parquet",
        image_table=path("<results>/{dataset}/images.parquet", searches.image_table),
    output:
        markdown="<results>/search/{search}.md",
        html=report(
            "<results>/search/{search}.html",
            caption="search.rst",
            category="Searches",
            labels={"search": "{search}"},
        ),
    log:
        "<logs>/search_pages/{search}.log",
    wildcard_constraints:
        search=name_pattern(asked),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.searches.pages:write_search_pages", searches.pages_job),
    message:
        "writing the pages of the search {wildcards.search}"
    script:
        RUNNER
