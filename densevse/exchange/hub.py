"""Exported models on the Hugging Face Hub: publishing a folder, and obtaining one. The Hub's own library does both.

It finds the token itself: in HF_TOKEN, or where `hf auth login` has put it. No message contains it.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, hf_hub_download, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError, RemoteEntryNotFoundError

from densevse.exchange.records import RECORDS_FILE, check_file, read_records
from densevse.runtime.busy_servers import StillBusyError, ask_hub, first_line
from snakeproof.errors import InputError

HUB = "hub:"
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_AT = re.compile(rf"({_NAME.pattern})(?:@([\w./-]+))?")


def push(folder: str | Path, repository: str) -> str:
    """Publishes an exported folder as `repository`, such as owner/name, and returns the address of the commit.

    A repository that does not exist yet is made, and is private. Raises `InputError` for another form of name, if a
    file differs from the records, or if the Hub refuses or cannot be reached.
    """
    check_repository(repository)
    records = read_records(Path(folder, RECORDS_FILE))
    for name in records.files:
        check_file(Path(folder, name), records, name)
    subject = f"{records.variant} on {records.dataset}, seed {records.seed}, round {records.round}"
    with _explain_errors(repository, "to write there"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "It seems that you are about to commit a data file")  # a vocabulary is one
        api = HfApi(library_name="densevse")
        ask_hub(lambda: api.create_repo(repository, private=True, exist_ok=True))
        done = ask_hub(
            lambda: api.upload_folder(
                repo_id=repository,
                folder_path=folder,
                allow_patterns=[*records.files, RECORDS_FILE],
                commit_message=subject,
            )
        )
    return str(done.commit_url)


def pull(address: str) -> Path:
    """The folder of the model at `address`: hub:owner/name, or hub:owner/name@revision for a commit, tag or branch.

    Files that were obtained before are not obtained again. Raises `InputError` for another form of address, if the
    repository holds no exported model, or if the Hub does not have it or cannot be reached.
    """
    named = _AT.fullmatch(address.removeprefix(HUB))
    if named is None:
        raise InputError(f"{address}: write hub:owner/name, or hub:owner/name@revision.")
    repository, revision = named.groups()
    with _explain_errors(repository, "to read a private one"):
        records = Path(ask_hub(lambda: hf_hub_download(repository, RECORDS_FILE, revision=revision)))
    files = [*read_records(records).files, RECORDS_FILE]
    commit = records.parent.name  # the revision may be a branch, which moves
    with _explain_errors(repository, "to read a private one"):
        return Path(ask_hub(lambda: snapshot_download(repository, revision=commit, allow_patterns=files)))


def check_repository(name: str) -> None:
    """Raises `InputError` unless `name` has the form owner/name."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no repository of the Hub: write owner/name.")


@contextmanager
def _explain_errors(repository: str, purpose: str) -> Iterator[None]:
    """Turns the errors of the Hub's library into an `InputError` that says what to do."""
    try:
        yield
    except RemoteEntryNotFoundError as error:
        raise InputError(
            f"{repository}: no {RECORDS_FILE} there, so it is no model that `densevse export` wrote. Correct the name."
        ) from error
    except (LocalTokenNotFoundError, HfHubHTTPError, HFValidationError) as error:
        raise InputError(
            f"{repository}: the Hub refused ({first_line(error)}). Correct the name, or log in with `hf auth login` "
            f"or HF_TOKEN {purpose}."
        ) from error
    except StillBusyError as error:
        raise InputError(f"{repository}: the Hub did not answer: {error}.") from error
    except Exception as error:  # connections fail with many kinds of exceptions, of several libraries
        raise InputError(
            f"{repository}: the Hub did not answer ({type(error).__name__}: {first_line(error)}). Run again; what was "
            "received or sent before is not sent twice."
        ) from error
