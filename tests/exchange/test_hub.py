"""Exported models on a stand-in of the Hugging Face Hub, to which the Hub's own library talks."""

import json
import re

import pytest
from huggingface_hub import ModelCard, constants
from huggingface_hub.repocard_data import model_index_to_eval_results

from densevse.command.main import main
from densevse.exchange.exporting import card_head
from densevse.exchange.hub import pull, push
from densevse.exchange.records import ModelName
from densevse.report.columns import RETRIEVAL_METRICS, TOTALS
from densevse.report.sections import Row
from densevse.statistics.bootstrap import Interval
from snakeproof.errors import InputError
from snakeproof.files import checksum
from tests.hub import TOKEN, hub_at

NAME = ModelName("flickr8k", "vsepp", 0, 0)
DESCRIBED = {"title": "VSE++", "dataset": "Flickr8K", "hub_data_sets": [], "hub_networks": ["timm/lite2.in1k"]}
MEASURED = {column.name: 10.0 + place for place, column in enumerate((*RETRIEVAL_METRICS, *TOTALS))}
ROW = Row(
    "VSE++",
    "measured",
    "vsepp, seed 0",
    "vsepp",
    MEASURED,
    intervals={name: Interval(value - 1.5, value + 2.0) for name, value in MEASURED.items()},
)
HEAD = card_head(NAME, DESCRIBED, "full", ROW)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_at(monkeypatch, tmp_path / "cache") as hub:
        yield hub


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of an export, small."""
    made = tmp_path / "round0"
    (made / "vocabulary").mkdir(parents=True)
    contents = {"README.md": f"{HEAD}\n# VSE++\n".encode(), "model.safetensors": b"w" * 5000}
    contents["vocabulary/words.parquet"] = b"words"
    for name, content in contents.items():
        (made / name).write_bytes(content)
    (made / ".snakemake_timestamp").touch()
    files = {name: checksum(made / name) for name in contents}
    records = {**NAME._asdict(), "settings": {}, "versions": {}, "files": files}
    (made / "records.json").write_text(json.dumps(records))
    return made


def test_the_hubs_library_reads_the_head_of_a_card():
    card = ModelCard(f"{HEAD}\n# VSE++\n", ignore_metadata_errors=False)
    head = card.data.to_dict()
    assert (head["license"], head["license_link"]) == ("other", "LICENCES.md")
    assert (head["datasets"], head["base_model"]) == (["flickr8k"], ["timm/lite2.in1k"])
    model, results = model_index_to_eval_results(head["model-index"])
    assert model == "VSE++ on Flickr8K"
    assert {one.metric_type: one.metric_value for one in results} == MEASURED
    assert {one.metric_type: one.metric_args["interval_95"] for one in results} == {
        name: [value - 1.5, value + 2.0] for name, value in MEASURED.items()
    }
    assert {(one.dataset_type, one.dataset_config, one.dataset_split) for one in results} == {
        ("flickr8k", "full", "test")
    }


def test_a_network_without_a_repository_is_not_named_as_one():
    head = card_head(NAME, {**DESCRIBED, "hub_networks": [], "hub_data_sets": ["some/flickr8k"]}, "full", ROW)
    assert "base_model" not in head
    assert ModelCard(head).data.datasets == ["some/flickr8k"]


def test_a_pushed_model_is_pulled_with_the_same_bytes(hub, folder):
    address = push(folder, "owner/model")
    repository = hub.repositories["owner/model"]
    assert address == f"{hub.address}/owner/model/commit/{repository.commit}"
    assert repository.visibility == "private"
    for named in ("hub:owner/model", f"hub:owner/model@{repository.commit}"):
        pulled = pull(named)
        assert {file: (pulled / file).read_bytes() for file in repository.files} == {
            file: (folder / file).read_bytes() for file in repository.files
        }
    assert repository.files.keys() == {"README.md", "model.safetensors", "records.json", "vocabulary/words.parquet"}
    assert {checksum(folder / name) for name in ("model.safetensors", "vocabulary/words.parquet")} == hub.large.keys()


def test_a_second_push_replaces_the_files_and_keeps_who_may_read(hub, folder):
    push(folder, "owner/model")
    hub.repositories["owner/model"].visibility = "public"
    first = hub.repositories["owner/model"].commit
    records = json.loads((folder / "records.json").read_text())
    (folder / "records.json").write_text(json.dumps({**records, "versions": {"torch": "2"}}))
    push(folder, "owner/model")
    assert hub.repositories["owner/model"].commit != first
    assert hub.repositories["owner/model"].visibility == "public"


def test_only_the_files_of_the_model_are_obtained(hub, folder):
    push(folder, "owner/model")
    hub.repositories["owner/model"].files["optimizer.bin"] = b"?"
    assert not (pull("hub:owner/model") / "optimizer.bin").exists()


def test_a_changed_folder_is_not_pushed(hub, folder):
    (folder / "model.safetensors").write_bytes(b"?")
    with pytest.raises(InputError, match=r"model\.safetensors: changed since the model was exported"):
        push(folder, "owner/model")
    assert hub.asked == []


def test_a_wrong_token_is_refused_and_not_printed(hub, folder, monkeypatch):
    wrong = TOKEN.replace("a", "b")
    monkeypatch.setenv("HF_TOKEN", wrong)
    with pytest.raises(InputError, match=r"owner/model: the Hub refused \(.*401.*hf auth login") as refused:
        push(folder, "owner/model")
    assert wrong not in str(refused.value)


def test_without_a_token_nothing_is_pushed(hub, folder, monkeypatch, tmp_path):
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"owner/model: the Hub refused .*HF_TOKEN to write there"):
        push(folder, "owner/model")


def test_what_is_no_model_is_named(hub, folder):
    with pytest.raises(InputError, match=r"owner/model: the Hub refused .*Correct the name, or log in"):
        pull("hub:owner/model")
    push(folder, "owner/model")
    with pytest.raises(InputError, match=r"owner/model: the Hub refused .*Correct the name"):
        pull("hub:owner/model@v2")
    del hub.repositories["owner/model"].files["records.json"]
    with pytest.raises(InputError, match=r"owner/model: no records\.json there, so it is no model"):
        pull("hub:owner/model")


@pytest.mark.parametrize("address", ["hub:model", "hub:", "hub:owner/model/more", "hub:owner/model@"])
def test_another_form_of_address_is_refused(address):
    with pytest.raises(InputError, match=f"{re.escape(address)}: write hub:owner/name, or hub:owner/name@revision"):
        pull(address)


def test_a_busy_hub_is_asked_again_or_named(hub, folder, monkeypatch):
    waits = []
    monkeypatch.setattr("densevse.runtime.busy_servers.time.sleep", waits.append)
    hub.busy = [{"Retry-After": "9"}]
    push(folder, "owner/model")
    hub.busy = [{"Retry-After": "9"}]
    pull("hub:owner/model")
    assert waits == [9, 9]
    hub.busy = [{"Retry-After": "3600"}]
    with pytest.raises(InputError, match=r"owner/model: the Hub did not answer: HTTP 429.*run again after.*HF_TOKEN"):
        pull("hub:owner/model")


def test_a_hub_that_does_not_answer_says_so(monkeypatch, tmp_path, folder):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with hub_at(monkeypatch, tmp_path / "cache"):
        pass
    with pytest.raises(InputError, match=r"owner/model: the Hub did not answer \(.*Run again"):
        push(folder, "owner/model")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--push-to-hub", "model"], "'model' is no repository of the Hub: write owner/name"),
        (["--push-to-hub", "owner/model", "--", "--dry-run"], "export with --dry-run first, then push"),
    ],
)
def test_a_push_that_cannot_be_meant_is_refused_before_any_job(given, message, capsys):
    assert main(["export", "vse", "--on", "scenes", *given]) == 1
    assert message in capsys.readouterr().err
