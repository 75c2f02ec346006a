# Searches by a trained model with a person's own sentences and photographs. These go through the same stages as a data
# set: sentences are in results/search/<name>/, photographs in results/search/photographs/.

from densevse.analyses.searches.dag import SearchStage

searches = analyses.add(SearchStage(project))


rule own_photographs:
    input:
        photographs=path("{own_folder}", searches.photographs),
    output:
        "<results>/{dataset}/images.parquet",
    log:
        "<logs>/own_photographs/{dataset}.log",
    wildcard_constraints:
        dataset=searches.with_photographs(),
    conda:
        f"{ENVS}/base.yaml"
    threads: 2
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("analyses/searches/own_photographs.py"),
        contents=contents_of("{own_folder}", searches.photographs),
    message:
        "reading your photographs: {input.photographs}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/own_photographs.py"


rule own_sentences:
    output:
        "<results>/{dataset}/captions.parquet",
    log:
        "<logs>/own_sentences/{dataset}.log",
    wildcard_constraints:
        dataset=searches.with_sentences(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        code=code_of("analyses/searches/own_sentences.py"),
        sentences=configured(searches.sentences),
    message:
        "reading your sentences of {wildcards.dataset}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/own_sentences.py"


rule encode_images:
    input:
        unpack(searches.inputs_of_images),
        model=path("<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", searches.model),
    output:
        "<results>/{dataset}/encodings/{variant}/seed{seed}/round{round}/{split}.parquet",
    log:
        "<logs>/encode_images/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        f"{ENVS}/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        code=configured(training.code_of("analyses/searches/encode_images.py")),
        threads=configured(datasets.threads),
    message:
        "encoding the {wildcards.split} images of {wildcards.dataset} by {wildcards.variant}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/encode_images.py"


rule search:
    input:
        unpack(searches.inputs_of_sentences),
        encodings=path(
            "<results>/{dataset}/encodings/{variant}/seed{seed}/round{round}/{split}.parquet", searches.encodings
        ),
        model=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/model.safetensors", searches.model_of_search
        ),
    output:
        "<results>/search/{search}.parquet",
    log:
        "<logs>/search/{search}.log",
    wildcard_constraints:
        search=searches.of_trained(),
    conda:
        f"{ENVS}/torch.yaml"
    threads: configured(searches.threads_of_search)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        code=configured(searches.code),
        split=configured(searches.split_of_sentences),
        asked=configured(searches.asked),
        top=configured(searches.top),
        threads=configured(searches.threads_of_search),
    message:
        "searching: {wildcards.search}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/search.py"


rule search_given:
    input:
        image_table=path("<results>/{dataset}/images.parquet", searches.image_table),
        caption_table=path("<results>/{dataset}/captions.parquet", searches.image_table),
        images=path("{own_file}", searches.given_file("images")),
        sentences=path("{own_file}", searches.given_file("sentences")),
        image_ids=path("{own_file}", searches.given_file("image_ids")),
        caption_ids=path("{own_file}", searches.given_file("caption_ids")),
        vectors=path("{own_file}", searches.given_file("vectors")),
    output:
        "<results>/search/{search}.parquet",
    log:
        "<logs>/search_given/{search}.log",
    wildcard_constraints:
        search=searches.of_given(),
    conda:
        f"{ENVS}/torch.yaml"
    threads: configured(searches.threads_of_search)
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("analyses/searches/search_given.py"),
        contents=contents_of("{own_file}", searches.given_files),
        layout=configured(searches.layout),
        question=configured(searches.question),
        threads=configured(searches.threads_of_search),
    message:
        "searching vectors from elsewhere: {wildcards.search}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/search_given.py"


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
        search=searches.names(),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("analyses/searches/search_pages.py"),
        sources=configured(searches.source_names),
        asked=configured(searches.asked),
        title=configured(searches.title_of_search),
        shown=configured(searches.shown),
    message:
        "writing the pages of the search {wildcards.search}"
    script:
        f"{ROOT}/workflow/scripts/analyses/searches/search_pages.py"
