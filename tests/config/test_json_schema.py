import json
from pathlib import Path

from densevse.config.schema import document

SCHEMA = Path(__file__).parents[2] / "config/schema.json"


def test_the_schema_for_editors_is_that_of_the_code():
    assert json.loads(SCHEMA.read_text()) == document(), "run `make schema`"


def test_options_depend_on_what_reads_them():
    choices = document()["$defs"]["Dataset"]["allOf"]
    of_flickr = next(choice for choice in choices if choice["if"]["properties"]["reader"]["const"] == "flickr")
    assert "encoding" in of_flickr["then"]["properties"]["options"]["properties"]


def test_a_file_that_overrides_one_key_lacks_nothing():
    assert '"required"' not in json.dumps(document()["properties"])
    assert "required" not in document()["$defs"]["Dataset"]
