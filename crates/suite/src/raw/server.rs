//! The `server` block.

use super::{
    client::RawCapabilities,
    docker::RawDocker,
    shape::shape,
    union::{FlagOr, Short, TextOr},
    value::{OneOrMany, Table, Text, TextTable, Texts},
};

/// The keys that name a server. If one of these is misspelt, the server is not reported as missing.
pub(crate) const KEYS_OF_A_SERVER: [&str; 7] = [
    "server",
    "command",
    "builtin",
    "docker",
    "transport",
    "url",
    "launch",
];

shape! {
    /// The server under test and how it is reached.
    RawServer, "`server`" {
        /// The program, started without a shell; `{{…}}` is filled in. A name without a path is looked for on the `PATH`
        /// under `env`, then on the caller's. In a container the `ENTRYPOINT` of the image stands in front of it.
        command = "command": Text;
        /// Its arguments; `{{…}}` is filled in, `$` stays as it is.
        args = "args": Texts;
        /// The directory it starts in, relative to the YAML file. Default: the caller's.
        cwd = "cwd": Text;
        /// Environment variables. `$X`, `${X}` and `${X:-default}` are taken from the caller's environment,
        /// `$$` is a dollar sign, `{{…}}` is filled in.
        env = "env": TextTable;
        /// What the server inherits of the caller's environment: `true` (all), `false`, or names.
        inherit_env = "inherit_env": FlagOr<Texts>;
        /// `stdio` (the default), `http` or `sse`.
        transport = "transport": Text;
        /// Where the server listens, for `http` and `sse`; `{{…}}` is filled in.
        url = "url": Text;
        /// Headers of each request, filled in like `env`; their values are never shown.
        headers = "headers": TextTable;
        /// Starts an HTTP server for the assertion and waits until it is ready; `{{port}}` is a free port. With `docker` it
        /// runs in a container, where it has to listen on all addresses: `0.0.0.0`.
        launch = "launch": RawLaunch;
        /// The profile of the embedded server to start instead of a command.
        builtin = "builtin": Text;
        /// The container image to start the server in, or a map with more to say.
        docker = "docker": Short<Text, RawDocker>;
        /// The protocol revision: `auto` (the default: the newest with a handshake that both know, and `stateless` where
        /// the server refuses a handshake for it), a revision such as `2025-06-18`, or `stateless` (2026-07-28, without a
        /// handshake). With a list, or `all` that the server speaks, assertions are repeated on each.
        protocol = "protocol": OneOrMany<Text>;
        /// What the client can do for the server.
        client_capabilities = "client_capabilities": RawCapabilities;
        /// How requests are authorised.
        auth = "auth": RawAuth;
        /// Which certificates a server behind `https` may have.
        tls = "tls": RawTls;
        /// Of a target in the settings: what calls of its tools may do, as `read`, `likely`, `write` or `destructive` by
        /// patterns of their names, such as `get_*: read`. It wins over annotations and names wherever a command decides
        /// which tools to call. Of several patterns that match, the one with the most characters besides `*` and `?` holds.
        effects = "effects": Table<Text>;
        /// `true`: assertions at the same `url` may run at the same time, because sessions there share no state. Default:
        /// one after another. A server that is started for an assertion is never shared.
        parallel = "parallel": bool;
    }
}

shape! {
    /// Which certificates a server behind `https` may have. Without it: those that the system trusts.
    RawTls, "`tls`" {
        /// A PEM file with authorities that are trusted besides the system's, relative to the YAML file.
        ca = "ca": Text;
        /// `true`: any certificate is taken, which is a finding in every report.
        insecure = "insecure": bool;
    }
}

shape! {
    /// An HTTP server that is started for the assertion.
    RawLaunch, "`launch`" {
        /// The program.
        command = "command": Text;
        /// Its arguments.
        args = "args": Texts;
        /// Its environment variables, as in `server`.
        env = "env": TextTable;
        /// How to tell that it is ready.
        ready = "ready": TextOr<RawReady>;
        /// How long that may take. Default: the assertion's timeout.
        timeout = "timeout": Text;
    }
}

shape! {
    /// How to tell that a launched server is ready. Without any of these: when the port is open.
    RawReady, "`ready`" {
        /// A line of its output in which this pattern is found.
        log = "log": Text;
        /// `true`: the port is open.
        port = "port": bool;
        /// This path is answered.
        http = "http": Text;
    }
}

shape! {
    /// How requests are authorised.
    RawAuth, "`auth`" {
        /// A bearer token, filled in like `env`.
        bearer = "bearer": Text;
        /// An OAuth client that requests its own token.
        client_credentials = "client_credentials": RawClientCredentials;
    }
}

shape! {
    /// An OAuth client.
    RawClientCredentials, "`client_credentials`" {
        /// Where tokens are issued.
        token_url = "token_url": Text;
        /// `true`: the token endpoint is found by the server's metadata.
        discover = "discover": FlagOr<Text>;
        /// The client's id.
        id = "id": Text;
        /// The client's secret.
        secret = "secret": Text;
        /// The scope asked for.
        scope = "scope": Text;
    }
}
