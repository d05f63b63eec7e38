# The image of the action.
#   docker build --target prebuilt .                           the files of dist/rootfs (scripts/rootfs makes them)
#   docker build --target prebuilt --build-arg BASE=scratch .  the same, alone: pulls nothing
#   docker build .                                             compiles the binary first
# The binary is static and carries its certificate authorities. BASE adds what the hooks of a runner ask of an image
# (sh, env, tail) and nothing the binary needs. It is named by tag here; a release passes it with its digest.
ARG BASE=busybox:1.37-glibc

FROM ${BASE} AS prebuilt
COPY dist/rootfs/ /
ENTRYPOINT ["/usr/local/bin/mcp-assert-action"]

FROM rust:1.95-slim-bookworm AS build
# The C compiler is for ring, readelf for the check of scripts/rootfs.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev binutils \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN scripts/rootfs

FROM ${BASE} AS from-source
COPY --from=build /source/dist/rootfs/ /
ENTRYPOINT ["/usr/local/bin/mcp-assert-action"]
