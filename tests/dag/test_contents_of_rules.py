import re

from tests.rules import files


def test_each_rule_that_reads_a_file_of_the_user_s_has_what_it_holds_among_its_params():
    """But for jobs that read photographs alone, which depend on the image table with the checksum of each.

    The rules that copy such files into a bucket are given them as they lie.
    """
    found = 0
    for file in files():
        for rule in re.split(r"\nrule ", file.read_text())[1:] if file.name != "bucket.smk" else ():
            inputs = re.findall(r'path\("(?:<resources>|\{own_)[^"]*", (?:when=)?([\w.]+)\)', rule)
            held = re.findall(r'(?:contents_of|=)\("[^"]*", (?:when=)?([\w.]+)\)', rule)
            patterns = re.findall(r'(?:contents_of|=)(\("[^"]*", (?:when=)?[\w.]+\))', rule)
            # `given_files` of a stage are those that its `given_file` gives by key.
            asked = [(pattern, re.sub(r"([\w.]+)files\)", r"partial(\1file,", pattern)) for pattern in patterns]
            reads = ("path", "local_path")
            assert all(any(f"{read}{one}" in rule for read in reads for one in either) for either in asked), rule
            photographs = (
                {"datasets.sources", "datasets.pictures", "searches.sources"} if "image_table=" in rule else set()
            )
            photographs -= {"datasets.sources"} if rule.startswith(("read_boxes", "read_masks")) else set()
            assert set(inputs) - set(held) <= photographs | {"caption_scores.needs_spice"}, rule.partition(":")[0]
            found += len(held)
    assert found > 15
