# lepus in a container: built and packed in one system, installed from its package in a bare one of the same kind.
#   docker build -t lepus .
#   docker run --rm -v "$PWD:/data" lepus reconstruct scan.toml -o volume.mha
# The package has GPU code where the image BUILD has nvcc 13. scripts/check-deb --build runs the RUN lines without Docker.
ARG BUILD=debian:12
ARG SYSTEM=debian:12

FROM ${BUILD} AS build
WORKDIR /usr/src/lepus
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make
RUN make package

FROM ${SYSTEM}
COPY --from=build /usr/src/lepus/build-package/packages/lepus_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/lepus_*.deb && rm -rf /tmp/lepus_*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["lepus"]
