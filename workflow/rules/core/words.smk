# Vocabularies of the training sentences: words and their pre-trained vectors, relations between words, part-of-speech
# tags, concepts.


rule tokenize_captions:
    input:
        captions="<results>/{dataset}/captions.parquet",
    output:
        "<results>/{dataset}/tokens.parquet",
    log:
        "<logs>/tokenize_captions/{dataset}.log",
    priority: 10  # count_words fails without sentences of val, and should do so before features are computed
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.language.tokens:write_tokens", lambda: Job(revisions={"inner_stops": 2})),
    message:
        "cutting the sentences of {wildcards.dataset} into words"
    script:
        RUNNER


rule count_words:
    input:
        tokens=rules.tokenize_captions.output[0],
    output:
        "<results>/{dataset}/vocabulary/words.parquet",
    log:
        "<logs>/count_words/{dataset}.log",
    priority: 10  # count_words fails without sentences of val, and should do so before features are computed
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        **calling(
            "densevse.language.words:write_words",
            lambda dataset: Job({"minimum": project.datasets[dataset].minimum_word_count}),
        ),
    message:
        "counting the words of {wildcards.dataset}"
    script:
        RUNNER


rule count_relations:
    input:
        captions="<results>/{dataset}/captions.parquet",
        parses=path("<results>/{dataset}/{parses}/{parser}/{shard}.parquet", inputs.parse_shards),
        words=rules.count_words.output[0],
        vectors=path("<results>/{dataset}/vocabulary/vectors-{vectors}.parquet", inputs.picked_vectors),
    output:
        relations="<results>/{dataset}/vocabulary/relations-{dependencies}.parquet",
        fragments="<results>/{dataset}/vocabulary/fragments-{dependencies}.parquet",
    log:
        "<logs>/count_relations/{dataset}-{dependencies}.log",
    wildcard_constraints:
        dependencies="enhanced|basic|collapsed|original",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.language.triplets:write_relations"),
    message:
        "counting the {wildcards.dependencies} relations between words of {wildcards.dataset}"
    script:
        RUNNER


rule pick_word_vectors:
    input:
        words=rules.count_words.output[0],
        vectors=path("<resources>/{vectors}/{file}", lambda vectors: entry_file(settings.word_vectors[vectors])),
    output:
        "<results>/{dataset}/vocabulary/vectors-{vectors}.parquet",
    log:
        "<logs>/pick_word_vectors/{dataset}-{vectors}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        **calling("densevse.language.word_vectors:write_word_vectors", inputs.vectors_job),
        contents=contents_of("<resources>/{vectors}/{file}", lambda vectors: entry_file(settings.word_vectors[vectors])),
    message:
        "picking the vectors of {wildcards.vectors} for the words of {wildcards.dataset}"
    script:
        RUNNER


rule count_tags:
    input:
        captions="<results>/{dataset}/captions.parquet",
        parses=path("<results>/{dataset}/parses/{parser}/{shard}.parquet", inputs.parse_shards),
    output:
        "<results>/{dataset}/vocabulary/tags.parquet",
    log:
        "<logs>/count_tags/{dataset}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.language.tags:write_tags"),
    message:
        "counting the part-of-speech tags of {wildcards.dataset}"
    script:
        RUNNER


rule mine_concepts:
    input:
        images="<results>/{dataset}/images.parquet",
        parses=path("<results>/{dataset}/parses/{parser}/{shard}.parquet", inputs.parse_shards),
    output:
        concepts="<results>/{dataset}/vocabulary/concepts.parquet",
        image_concepts="<results>/{dataset}/vocabulary/image_concepts.parquet",
    log:
        "<logs>/mine_concepts/{dataset}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.language.tags:write_concepts", inputs.concepts_job),
    message:
        "mining the concepts of {wildcards.dataset}"
    script:
        RUNNER
