# The image of the action. `--target prebuilt` takes the files under dist/rootfs as they are and pulls nothing with
# `--build-arg BASE=scratch`; the default target compiles the binary.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS prebuilt
COPY dist/rootfs/ /

FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# The target is named so that the flag does not reach procedural macros, which must stay dynamic.
RUN target="$(rustc -vV | sed -n 's/^host: //p')" \
 && RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --locked --bin mcp-assert --target "$target" \
 && install -D "target/$target/release/mcp-assert" /rootfs/usr/local/bin/mcp-assert \
 && ln -s mcp-assert /rootfs/usr/local/bin/mcp-assert-action

FROM ${BASE} AS from-source
COPY --from=build /rootfs/ /
ENTRYPOINT ["/usr/local/bin/mcp-assert-action"]
