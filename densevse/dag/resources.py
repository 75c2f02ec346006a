"""Requests to the executor: memory and time, which grow when a job must be tried again."""

from collections.abc import Callable

from densevse.dag.paths import Wildcards, configured


def growing(amount: int | Callable[..., int]) -> Callable[[Wildcards, int], int]:
    """A request that is twice as large at a job's second attempt, and three times at its third.

    `amount` is the request of the first attempt, or a function that computes it from the job's wildcards.
    """
    decide = configured(amount) if callable(amount) else lambda wildcards: amount

    def of_attempt(wildcards: Wildcards, attempt: int) -> int:
        return decide(wildcards) * attempt

    return of_attempt
