# densevse in a container: docker build -t densevse . && docker run --rm -v "$PWD:/data" densevse run results/tables/scenes.md
# For pods whose results lie in a bucket: docker build --build-arg REQUIREMENTS="requirements.txt envs/locks/storage.txt" -t densevse .
# Stanford CoreNLP's jars are not in it: Maven fetches them into resources/ of the mounted folder when a table needs them.
FROM python:3.12-slim AS build
ARG REQUIREMENTS=requirements.txt
WORKDIR /densevse
COPY . .
RUN python -m venv /opt/densevse \
    && /opt/densevse/bin/python envs/install.py $REQUIREMENTS \
    && pip wheel --no-deps --wheel-dir /tmp/wheel . \
    && /opt/densevse/bin/pip install --no-deps --no-index /tmp/wheel/*.whl

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends default-jre-headless maven \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/densevse /opt/densevse
ENV PATH=/opt/densevse/bin:$PATH HOME=/tmp PYTHONSAFEPATH=1
WORKDIR /data
ENTRYPOINT ["densevse"]
