"""Requests to the executor: memory and time, which grow when a job must be tried again."""

from collections.abc import Callable

from densevse.dag.paths import Wildcards, configured


def growing(amount: int | Callable[..., int]) -> Callable[[Wildcards, int], int]:
    """A resource that the second attempt at a job asks for twice, and the third three times.

    `amount` is what the first attempt asks for, or a function of the job's wildcards that says it.
    """
    decide = configured(amount) if callable(amount) else lambda wildcards: amount

    def of_attempt(wildcards: Wildcards, attempt: int) -> int:
        return decide(wildcards) * attempt

    return of_attempt
