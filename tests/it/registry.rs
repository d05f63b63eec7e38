//! A registry on loopback, just enough of it for an engine to pull one small image: engines take registries there
//! without TLS.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// What the registry does with whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Gives the image to everybody.
    Open,
    /// Gives it to `ada` with the password `opensesame`.
    Guarded,
    /// Says that too many ask.
    Limited,
    /// Breaks down for the first requests, then gives it.
    Shaky,
}

/// A running registry; it ends with the tests.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Its address, the first part of image names.
    pub(crate) address: String,
    /// The requests so far.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

/// What the image is made of: digest, media type, bytes.
struct Image {
    manifest: Vec<u8>,
    blobs: Vec<(String, Vec<u8>)>,
}

/// The name of these bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", digits.concat())
}

fn image(mark: &str) -> Image {
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(mark.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, "mark", mark.as_bytes())
        .unwrap();
    let layer = tar.into_inner().unwrap();
    let config = serde_json::json!({
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "config": {"Cmd": ["/mark"]},
        "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
    })
    .to_string()
    .into_bytes();
    let part = |kind: &str, bytes: &[u8]| {
        serde_json::json!({
            "mediaType": format!("application/vnd.docker.{kind}"),
            "size": bytes.len(),
            "digest": digest(bytes),
        })
    };
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": part("container.image.v1+json", &config),
        "layers": [part("image.rootfs.diff.tar.gzip", &layer)],
    });
    Image {
        manifest: manifest.to_string().into_bytes(),
        blobs: vec![(digest(&config), config), (digest(&layer), layer)],
    }
}

impl Registry {
    /// Starts one whose image `x:1` holds this mark.
    pub(crate) fn start(manner: Manner, mark: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let image = Arc::new(image(mark));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (image, seen) = (Arc::clone(&image), Arc::clone(&seen));
                thread::spawn(move || {
                    // An engine that hangs up is no matter.
                    let _ = answer(stream, manner, &image, &seen);
                });
            }
        });
        Self { address, requests }
    }
}

fn answer(
    stream: TcpStream,
    manner: Manner,
    image: &Image,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut authorization = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("authorization")
        {
            value.trim().clone_into(&mut authorization);
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(path.clone());
        seen.len()
    };
    let (status, kind, extra, body) = reply(manner, image, &path, (&authorization, before));
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Docker-Distribution-Api-Version: registry/2.0\r\nConnection: close\r\n{extra}\r\n",
        body.len()
    )?;
    if !request.starts_with("HEAD ") {
        stream.write_all(body)?;
    }
    stream.flush()
}

/// Status, media type, further headers and body of an answer.
type Reply<'a> = (&'static str, &'static str, String, &'a [u8]);

/// The answer to a request: who asks, and how many have asked by now.
fn reply<'a>(
    manner: Manner,
    image: &'a Image,
    path: &str,
    (authorization, asked): (&str, usize),
) -> Reply<'a> {
    let wanted = format!("Basic {}", STANDARD.encode("ada:opensesame"));
    let known = image
        .blobs
        .iter()
        .find(|(digest, _)| path.ends_with(digest.as_str()));
    match manner {
        Manner::Guarded if authorization != wanted => (
            "401 Unauthorized",
            "application/json",
            "WWW-Authenticate: Basic realm=\"test\"\r\n".to_owned(),
            br#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}"#,
        ),
        Manner::Limited if path.contains("manifests") => (
            "429 Too Many Requests",
            "application/json",
            String::new(),
            br#"{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit"}]}"#,
        ),
        Manner::Shaky if asked == 1 => ("503 Service Unavailable", "text/plain", String::new(), b""),
        Manner::Open | Manner::Guarded | Manner::Limited | Manner::Shaky => {
            if path == "/v2/" {
                ("200 OK", "application/json", String::new(), b"{}")
            } else if path.ends_with("/x/manifests/1") || path.ends_with(&digest(&image.manifest)) {
                (
                    "200 OK",
                    "application/vnd.docker.distribution.manifest.v2+json",
                    format!("Docker-Content-Digest: {}\r\n", digest(&image.manifest)),
                    &image.manifest,
                )
            } else if let Some((_, blob)) = known {
                ("200 OK", "application/octet-stream", String::new(), blob)
            } else {
                (
                    "404 Not Found",
                    "application/json",
                    String::new(),
                    br#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#,
                )
            }
        }
    }
}
