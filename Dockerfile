# Gluepot with its Python packages, Java and the development broker's archives: nothing is fetched at run time.
#
#   docker build -t gluepot .
#   docker run --read-only -v "$PWD:/job:ro" -v clicks:/work gluepot run /job/job.py -- --JOB_NAME clicks --TempDir /work/temp
#
# A `--tmpfs /tmp` should be `/tmp:exec`, because Java unpacks Spark's codecs there; without it they go to /work/spark.
#
# For metrics outside of the container: -p 9400:9400 -e GLUEPOT_METRICS_HOST=0.0.0.0 -e GLUEPOT_METRICS_TOKEN=file:/run/secrets/ops
#
# `docker stop` waits 10 s unless told; give it (`-t`) as long as a batch takes, so that the running one is committed.
#
# The stages `build` and `runtime` need no root: tests/integration/test_image_steps.py replays them without Docker.

# bookworm is the newest Debian that has Java 17.
FROM python:3.13-slim-bookworm AS base
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless tini \
    && rm -rf /var/lib/apt/lists/*
# 185 is the user of Spark's own images. It needs a name, or Hadoop's login fails, and a home, or Ivy does.
RUN groupadd --gid 185 gluepot \
    && useradd --uid 185 --gid 185 --home-dir /work --no-create-home --shell /usr/sbin/nologin gluepot \
    && install --directory --owner 185 --group 185 /work

FROM base AS compiler
# Compiles the kernels (docs/decisions/0027 and 0053); Python's headers are in the base image.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*

FROM compiler AS uv
RUN pip install --no-cache-dir uv==0.13.8

FROM uv AS build
ENV GLUEPOT_HOME=/opt/gluepot/cache \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PROJECT_ENVIRONMENT=/opt/gluepot/venv \
    UV_PYTHON_DOWNLOADS=never
# `docker build --build-arg EXTRAS="demo pii postgresql mysql redshift"`; postgresql is for state that machines share.
ARG EXTRAS="demo pii postgresql"
WORKDIR /src
# The packages first: they change less often than our code.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --frozen --no-dev $(printf -- "--extra %s " $EXTRAS) --no-install-project
COPY . .
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --frozen --no-dev $(printf -- "--extra %s " $EXTRAS) --no-editable
# Not in /src, where Python would find the checkout before the installed package.
WORKDIR /opt/gluepot
RUN venv/bin/python -m gluepot.servers.jars fetch kafka-broker
RUN venv/bin/gluepot jars fetch
# Without the classes archive a job takes twice as long to start.
RUN venv/bin/gluepot prepare

FROM base AS runtime
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Gluepot" \
    org.opencontainers.image.description="Runs AWS Glue streaming and batch scripts unchanged, on Spark, anywhere." \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.source="https://github.com/gluepot/gluepot" \
    org.opencontainers.image.base.name="docker.io/library/python:3.13-slim-bookworm"
COPY --from=build /opt/gluepot /opt/gluepot
COPY deploy/docker/health.py /opt/gluepot/health.py
# A job's ops server is on unless told otherwise (--metrics-port): HEALTHCHECK asks it. On loopback, the container's own.
ENV GLUEPOT_HOME=/opt/gluepot/cache \
    GLUEPOT_METRICS_PORT=9400 \
    PATH=/opt/gluepot/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SPARK_LOCAL_DIRS=/work/spark
# All that is ever written: checkpoints, tables and shuffle files in /work, the JVM's unpacked libraries in /tmp.
VOLUME ["/work", "/tmp"]
WORKDIR /work
USER 185:185
EXPOSE 9400
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-I", "/opt/gluepot/health.py"]
ENTRYPOINT ["tini", "--", "gluepot"]
CMD ["--help"]
