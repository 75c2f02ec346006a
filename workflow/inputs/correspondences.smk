# Functions that correspondences.smk is made with: from wildcards to files and settings.


def regions_of_method(wildcards):
    return method_inputs(wildcards)["features_regions"]


def assigning_settings(wildcards):
    """What assigning regions depends on in a variant's config beyond the model itself."""
    return {"candidates": candidates(wildcards)}


def candidates(wildcards):
    return variant_settings(wildcards).parameters["candidates"]


def round_number(wildcards):
    return int(wildcards.round)
