//! Paths as a container shows them, case by case.

use std::{
    future::ready,
    path::{Path, PathBuf},
};

use bollard::container::PathStatResponse;

use super::{Found, Kind, Overlaid, Stat, clean, follow, told};

/// The image that paths lead through.
fn stat(place: &Path) -> Stat {
    match place.to_str().unwrap() {
        "/etc" | "/tmp" | "/run" | "/var" | "/a" | "/mnt" | "/tmp/mount" | "/tmp/volume" => {
            Stat::There(Kind::Directory)
        }
        "/etc/passwd" | "/tmp/mount/file" | "/tmp/volume/file" => Stat::There(Kind::File),
        "/a/s.sock" => Stat::There(Kind::Special("it is a socket".into())),
        "/var/run" => Stat::Link("/run".into()),
        "/a/etc" => Stat::Link("../etc".into()),
        "/a/tmp" => Stat::Link("/tmp".into()),
        "/a/deep" => Stat::Link("/tmp/x".into()),
        "/a/self" => Stat::Link("self".into()),
        "/broken" => Stat::Failed("no answer".into()),
        _ => Stat::Absent,
    }
}

async fn case(path: &str, wanted: Found) {
    let overlaid = Overlaid::new(
        ["/tmp/", "/var/run"].into_iter(),
        ["/tmp/mount"].into_iter(),
        ["/tmp/", "/tmp/volume/"].into_iter(),
    );
    let overlaid = overlaid.real(|place: PathBuf| ready(stat(&place))).await;
    let stat = |place: PathBuf| ready(stat(&place));
    let found = follow(Path::new("/"), Path::new(path), &overlaid, stat).await;
    assert_eq!(found, wanted, "{path}");
}

#[tokio::test]
async fn what_lies_in_memory_is_known_by_whatever_name() {
    for path in [
        "/tmp/x",
        "//tmp/x",
        "/./tmp/x",
        "/etc/../tmp/x",
        "/a/tmp/x",
        "/a/deep",
        "/a/etc/../tmp/x",
    ] {
        case(path, Found::Hidden("/tmp/x".into())).await;
    }
    case("/nowhere/../tmp/x", Found::Hidden("/tmp/x".into())).await;
    case("/var/run/x", Found::Hidden("/run/x".into())).await;
    case("/run/x/y", Found::Hidden("/run/x/y".into())).await;
    case("/dev/shm/x", Found::Hidden("/dev/shm/x".into())).await;
    case("/dev/x", Found::Hidden("/dev/x".into())).await;
    case("/proc/1/status", Found::Hidden("/proc/1/status".into())).await;
    case("/tmp/mounted", Found::Hidden("/tmp/mounted".into())).await;
}

#[tokio::test]
async fn what_the_engine_sees_is_found_where_it_is() {
    let there = |place: &str, kind| Found::There(place.into(), kind);
    case("/", there("/", Kind::Directory)).await;
    case("/tmp", there("/tmp", Kind::Directory)).await;
    case("/tmp/../etc/passwd", there("/etc/passwd", Kind::File)).await;
    case("/tmp/mount/file", there("/tmp/mount/file", Kind::File)).await;
    case("/tmp/volume/file", there("/tmp/volume/file", Kind::File)).await;
    case("/tmp/mount/none", Found::Absent("/tmp/mount/none".into())).await;
    case("/a/etc/passwd", there("/etc/passwd", Kind::File)).await;
    case("/etc/passwd/x", Found::Absent("/etc/passwd/x".into())).await;
    case("/etc/passwd/../x", Found::Absent("/etc/x".into())).await;
    case("/none/x", Found::Absent("/none/x".into())).await;
    let circle = "too many links lead to each other";
    case("/a/self", Found::Failed(circle.into())).await;
    case("/../../etc/passwd", there("/etc/passwd", Kind::File)).await;
    case("/broken/x", Found::Failed("no answer".into())).await;
    let socket = Kind::Special("it is a socket".into());
    case("/a/s.sock", there("/a/s.sock", socket)).await;
    assert_eq!(clean(Path::new("/a/../../b/./c")), Path::new("/b/c"));
}

#[tokio::test]
async fn below_a_root_links_are_followed_and_never_out() {
    let stat = |place: PathBuf| {
        ready(match place.to_str().unwrap() {
            "/f/sub" => Stat::There(Kind::Directory),
            "/f/a.txt" => Stat::There(Kind::File),
            "/f/sub/up" => Stat::Link("../a.txt".into()),
            "/f/own" => Stat::Link("/f/sub".into()),
            "/f/out" => Stat::Link("/etc/passwd".into()),
            "/f/self" => Stat::Link("self".into()),
            "/f/broken" => Stat::Failed("no answer".into()),
            "/f/s.sock" => Stat::There(Kind::Special("it is a socket".into())),
            below if below.starts_with("/f/a.txt/") => panic!("asked for {below}"),
            _ => Stat::Absent,
        })
    };
    let case = async |path: &str, wanted: Found| {
        let none = Overlaid::default();
        let found = follow(Path::new("/f"), Path::new(path), &none, stat).await;
        assert_eq!(found, wanted, "{path}");
    };
    let there = |place: &str, kind| Found::There(place.into(), kind);
    let failed = |reason: &str| Found::Failed(reason.into());
    case(".", there("/f", Kind::Directory)).await;
    case("a.txt", there("/f/a.txt", Kind::File)).await;
    case("/f/a.txt", there("/f/a.txt", Kind::File)).await;
    case("own/up", there("/f/a.txt", Kind::File)).await;
    case("own", there("/f/sub", Kind::Directory)).await;
    case("a.txt/x", Found::Absent("/f/a.txt/x".into())).await;
    case("none/x", Found::Absent("/f/none/x".into())).await;
    let socket = Kind::Special("it is a socket".into());
    case("s.sock", there("/f/s.sock", socket)).await;
    case("../x", failed("it leads out of the fixture")).await;
    case("out", failed("it leads out of the fixture")).await;
    case("self", failed("too many links lead to each other")).await;
    case("broken", failed("no answer")).await;
}

#[test]
fn the_engine_says_what_a_thing_is() {
    let case = |file_mode: u32, target: &str, wanted: Stat| {
        let found = PathStatResponse {
            name: "x".into(),
            size: 0,
            file_mode,
            modification_time: None,
            link_target: target.into(),
        };
        assert_eq!(told(&found, Path::new("/x")), wanted);
    };
    let special = |kind: &str| Stat::There(Kind::Special(kind.into()));
    case(420, "", Stat::There(Kind::File));
    // Podman names every place's own.
    case(420, "/x", Stat::There(Kind::File));
    case(2_148_532_735, "", Stat::There(Kind::Directory));
    case(134_218_239, "/etc", Stat::Link("/etc".into()));
    case(16_777_709, "", special("it is a socket"));
    case(33_554_852, "", special("it is a FIFO"));
    case(69_206_454, "", special("it is a device"));
}
