"""The environment that the workflow's jobs compute in, unless the user's own says otherwise."""

JOB_ENVIRONMENT = {
    # Threads that wait for each other sleep, after some microseconds. By default they spin for milliseconds, which on
    # shared cores takes the time of those waited for; to sleep at once costs a woken thread at each small step.
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "1000",
    # Large tensors come and go each step. By default each is mapped and cleared anew by the kernel; so their memory is
    # kept.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
}
