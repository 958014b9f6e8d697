# Two images from one file: `serve` answers requests, `worker` runs validations.
#   make image        builds both with docker, podman or buildah
#   make image-test   builds them, runs them read-only as a random user, and stops them
# Each image has the interpreter, an environment and the libraries they load. It has no shell, no package manager and no
# compiler. Python and its libraries come from BASE_IMAGE, packages from pip's index (or PIP_INDEX_URL) in the versions of
# constraints.txt.
# A digest behind the tag (…@sha256:…) fixes the base image altogether.
ARG BASE_IMAGE=docker.io/library/python:3.11.14-slim-bookworm

FROM ${BASE_IMAGE} AS tools
# Any version of strip will do, and Debian keeps only the newest.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends binutils \
    && rm -rf /var/lib/apt/lists/*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_PYTHON=/opt/fedsift/bin/python \
    PIP_ROOT_USER_ACTION=ignore

FROM tools AS packages-serve
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
WORKDIR /build
COPY pyproject.toml constraints.txt deploy/image/dependencies.py ./
# CVXPY needs sparsediffpy only for nonlinear problems, and rich needs pygments only to show source code.
RUN python3 -m venv --without-pip /opt/fedsift \
    && python3 dependencies.py pyproject.toml serve postgres telemetry > requirements.txt \
    && pip install --no-compile -c constraints.txt -r requirements.txt \
    && pip uninstall -y pygments sparsediffpy

FROM packages-serve AS packages-worker
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_FIND_LINKS
RUN python3 dependencies.py pyproject.toml worker sim postgres telemetry > requirements.txt \
    && pip install --no-compile -c constraints.txt -r requirements.txt \
    && pip uninstall -y jinja2 markupsafe setuptools sparsediffpy

FROM packages-serve AS root-serve
COPY README.md LICENSE NOTICE ./
COPY app app
COPY fedl_sim fedl_sim
COPY fedsift_launcher fedsift_launcher
COPY sampler sampler
COPY solver solver
COPY deploy/image deploy/image
RUN pip install --no-compile --no-deps . \
    && cp deploy/image/warm.py /opt/fedsift/ \
    && cp deploy/image/processor_kind.* /opt/fedsift/lib/python3.*/site-packages/ \
    && python3 deploy/image/slim.py /opt/fedsift \
    && python3 deploy/image/rootfs.py /opt/fedsift /root/image

FROM packages-worker AS root-worker
COPY README.md LICENSE NOTICE ./
COPY app app
COPY fedl_sim fedl_sim
COPY fedsift_launcher fedsift_launcher
COPY sampler sampler
COPY solver solver
COPY deploy/image deploy/image
RUN pip install --no-compile --no-deps . \
    && cp deploy/image/warm.py /opt/fedsift/ \
    && cp deploy/image/processor_kind.* /opt/fedsift/lib/python3.*/site-packages/ \
    && python3 deploy/image/slim.py /opt/fedsift \
    && python3 deploy/image/rootfs.py /opt/fedsift /root/image

FROM scratch AS image
ARG CREATED
ARG REVISION
ARG VERSION
LABEL org.opencontainers.image.title="fedsift" \
      org.opencontainers.image.description="Device sampling and D2D offloading plans for federated learning on edge networks" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.version="${VERSION}"
ENV PATH=/opt/fedsift/bin:/usr/local/bin:/usr/bin \
    LANG=C.UTF-8 \
    HOME=/data \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    NUMBA_CACHE_DIR=/opt/fedsift/kernels \
    FEDSIFT_HOST=0.0.0.0 \
    FEDSIFT_PORT=8000 \
    FEDSIFT_DATABASE_URL=sqlite:////data/fedsift.db

FROM image AS worker
COPY --from=root-worker /root/image /
RUN ["/opt/fedsift/bin/python", "/opt/fedsift/warm.py", "worker"]
WORKDIR /data
VOLUME /data
USER 10001:0
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
    CMD ["/opt/fedsift/bin/python", "-P", "-m", "app.worker.health"]
ENTRYPOINT ["/opt/fedsift/bin/fedsift"]
CMD ["worker"]

# The last target is the default of a build.
FROM image AS serve
COPY --from=root-serve /root/image /
RUN ["/opt/fedsift/bin/python", "/opt/fedsift/warm.py", "serve"]
WORKDIR /data
VOLUME /data
USER 10001:0
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=10s --retries=3 \
    CMD ["/opt/fedsift/bin/python", "-P", "-m", "app.operations.health"]
ENTRYPOINT ["/opt/fedsift/bin/fedsift"]
CMD ["serve"]
