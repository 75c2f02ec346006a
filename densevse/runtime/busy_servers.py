"""Waits for servers, and for the Hugging Face Hub, that say when to ask them again."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

from huggingface_hub import get_session

from snakeproof.logs import logger

Result = TypeVar("Result")

LONGEST_WAIT = 300.0
"""Seconds, in sum, that are waited where a server asks for it."""


class BusyError(Exception):
    """A server says when to ask again: in some `seconds`."""

    def __init__(self, status: int, seconds: float, stated: str = "Retry-After") -> None:
        super().__init__(f"{describe_status(status)} ({stated}: {seconds:,.0f} seconds)")
        self.seconds = max(seconds, 1.0)


class StillBusyError(Exception):
    """A server asks to wait for longer than `LONGEST_WAIT`, in sum."""


def describe_status(status: int) -> str:
    """An HTTP state in words."""
    return f"HTTP {status}{', too many requests' if status == 429 else ''}"


def refuse_busy(status: int, headers: Mapping[str, str], otherwise: float | None = None) -> None:
    """Raises `BusyError` if an answer says when to ask again: by Retry-After, or by the Hub's RateLimit.

    `otherwise` are the seconds to wait after a 429 that does not say it.
    """
    stated, limit = headers.get("Retry-After", ""), re.search(r"\bt=(\d{1,6})", headers.get("RateLimit", ""))
    if status not in (429, 503):
        return
    if re.fullmatch(r"\d{1,6}", stated):
        raise BusyError(status, float(stated))
    with suppress(ValueError, OverflowError):
        raise BusyError(status, max(0.0, parsedate_to_datetime(stated).timestamp() - time.time()))
    if limit:
        raise BusyError(status, float(limit[1]), "RateLimit")
    if otherwise and status == 429:
        raise BusyError(status, otherwise, "without Retry-After")


def wait_for_server(error: BusyError, waited: float, advice: str = "") -> float:
    """Waits as a server asks, and returns the seconds that were waited so far.

    Raises `StillBusyError` that says when to run again if they would be more than `LONGEST_WAIT` in sum.
    """
    if waited + error.seconds > LONGEST_WAIT:
        then = datetime.now().astimezone() + timedelta(seconds=error.seconds)
        raise StillBusyError(f"{error}; run again after {then:%d %B, %H:%M %Z}{advice}") from error
    logger.warning("%s", error)
    time.sleep(error.seconds)
    return waited + error.seconds


def ask_hub(ask: Callable[[], Result]) -> Result:
    """Calls a function of the Hub's library, and calls it again as long as the Hub answers 429; returns its result.

    Raises `StillBusyError` as `wait_for_server` does, and what the library raises.
    """
    client, waited = get_session(), 0.0
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [lambda answer: refuse_busy(answer.status_code, answer.headers, 30.0)]}
    try:
        while True:
            try:
                return ask()
            except BusyError as error:
                waited = wait_for_server(error, waited, "; with a token (HF_TOKEN) the Hub allows more")
    finally:
        client.event_hooks = hooks


def first_line(error: BaseException) -> str:
    """The first line of an error, with that of the error behind it."""
    line = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
    return f"{line} {first_line(error.__cause__)}" if error.__cause__ else line
