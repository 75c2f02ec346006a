# Functions that words.smk is made with: from wildcards to files and settings.


def word_settings(wildcards):
    return dataset_settings(wildcards).minimum_word_count


def vector_settings(wildcards):
    """What decides which vectors are read; where the file lies does not."""
    return SETTINGS.word_vectors[wildcards.vectors].model_dump(mode="json", include={"format", "dimension", "member"})


def vector_file(wildcards):
    vectors = SETTINGS.word_vectors[wildcards.vectors]
    return obtained(wildcards.vectors, vectors.source, vectors.local)
