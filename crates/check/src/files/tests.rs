use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::sample::{hold, report, says};
use mcp::observation::{
    Observation, Proof,
    files::{Alteration, Change, FileSeen, FileState, FilesSeen, PathKind, Unseen, Way},
};
use suite::model::expectation::{Expectation, FileTexts, FilesWanted, PathPattern};

fn content(text: &str) -> FileState {
    FileState::Content(text.as_bytes().to_vec())
}

fn digest(text: &str) -> FileState {
    FileState::Digest {
        sha256: Sha256::digest(text.as_bytes()).into(),
        length: text.len() as u64,
    }
}

/// A way over these places, whose end is the last.
fn way(over: &[&str]) -> Way {
    Way {
        over: over.iter().map(ToString::to_string).collect(),
        place: over.last().unwrap().to_string(),
    }
}

/// The observation of `a.txt` before and after.
fn file(before: FileState, after: FileState) -> Observation {
    let mut seen = says("done");
    let file = FileSeen {
        before,
        after,
        inside: Some(way(&["a.txt"])),
    };
    seen.files.paths.insert("a.txt".to_owned(), file);
    seen
}

#[test]
fn a_slash_at_the_end_asks_for_a_directory() {
    let seen = |state: FileState| {
        let mut seen = file(state.clone(), state);
        let known = seen.files.paths.remove("a.txt").unwrap();
        seen.files.paths.insert("a/".to_owned(), known);
        seen
    };
    let there = || Expectation::Files(FilesWanted::Exist(vec!["a/".to_owned()]));
    let absent = || Expectation::Files(FilesWanted::NotExist(vec!["a/".to_owned()]));
    hold(&[
        (there(), seen(FileState::Directory)),
        (absent(), seen(content("x"))),
    ]);
    insta::assert_snapshot!(report(&[
        (there(), seen(content("x"))),
        (there(), seen(digest("x"))),
        (absent(), seen(FileState::Directory)),
    ]), @"
    file_exists: expected `a/` to be there, it is a file, and `/` at the end asks for a directory
    file_exists: expected `a/` to be there, it is a file, and `/` at the end asks for a directory
    file_not_exists: expected `a/` not to be there, a directory is there
    ");
}

const MODE: Change = Change::Modified(Alteration::Mode {
    before: 0o644,
    after: 0o755,
});

const LINK: Change = Change::Modified(Alteration::Kind {
    before: PathKind::Link,
    after: PathKind::File,
});

/// The observation of `a.txt` with the same content, and something else about it changed.
fn other(state: FileState, change: Change) -> Observation {
    let mut seen = file(state.clone(), state);
    seen.files.changed = Some(BTreeMap::from([("a.txt".to_owned(), change)]));
    seen
}

fn after(state: FileState) -> Observation {
    file(FileState::Absent, state)
}

fn texts(texts: &[&str]) -> Vec<FileTexts> {
    vec![FileTexts {
        path: "a.txt".to_owned(),
        texts: texts.iter().map(ToString::to_string).collect(),
    }]
}

fn paths() -> Vec<String> {
    vec!["a.txt".to_owned()]
}

fn altered(list: &[(&str, Change)]) -> Observation {
    let changed: BTreeMap<String, Change> = list
        .iter()
        .map(|(path, change)| ((*path).to_owned(), *change))
        .collect();
    Observation {
        files: FilesSeen {
            paths: BTreeMap::new(),
            changed: Some(changed),
            unseen: BTreeMap::new(),
            root: Some("/tmp/f[x]".to_owned()),
        },
        ..says("done")
    }
}

fn only(patterns: &[&str]) -> Expectation {
    Expectation::Files(FilesWanted::OnlyChanged(
        patterns
            .iter()
            .map(|pattern| PathPattern {
                written: (*pattern).to_owned(),
                glob: globset::Glob::new(pattern).unwrap().compile_matcher(),
            })
            .collect(),
    ))
}

fn not(key: &'static str, inner: Expectation) -> Expectation {
    Expectation::Not(vec![(key, inner)])
}

fn not_with(items: &[&str]) -> Expectation {
    not(
        "file_contains",
        Expectation::Files(FilesWanted::Contain(texts(items))),
    )
}

fn not_without() -> Expectation {
    not(
        "file_not_contains",
        Expectation::Files(FilesWanted::NotContain(texts(&["x"]))),
    )
}

fn not_equal() -> Expectation {
    not(
        "file_equals",
        Expectation::Files(FilesWanted::Equal(texts(&["x"]))),
    )
}

fn not_unchanged() -> Expectation {
    not(
        "file_unchanged",
        Expectation::Files(FilesWanted::Unchanged(paths())),
    )
}

/// Not both of `a.txt` and `b.txt` contain `x`.
fn not_both() -> Expectation {
    let other = FileTexts {
        path: "b.txt".to_owned(),
        texts: vec!["x".to_owned()],
    };
    let both = [texts(&["x"]), vec![other]].concat();
    not(
        "file_contains",
        Expectation::Files(FilesWanted::Contain(both)),
    )
}

/// The observation of `a.txt`, which was never there.
fn never() -> Observation {
    file(FileState::Absent, FileState::Absent)
}

/// The same with `b.txt` beside it.
fn beside(state: FileState) -> Observation {
    let mut seen = never();
    let other = after(state).files.paths.remove("a.txt").unwrap();
    seen.files.paths.insert("b.txt".to_owned(), other);
    seen
}

fn gone() -> Observation {
    file(content("x"), FileState::Absent)
}

#[test]
fn what_is_not_there_proves_nothing_of_a_file() {
    insta::assert_snapshot!(report(&[
        (not_with(&["zz"]), gone()),
        (not_with(&["zz"]), after(FileState::Directory)),
        (not_equal(), never()),
        (not_without(), never()),
        (not_unchanged(), never()),
        (not_both(), beside(content("x"))),
        (not("not", not_equal()), never()),
    ]), @r"
    not: a.txt: expected not `file_contains` (the file to contain `zz` (`a.txt`)), there is no such file
    not: a.txt: expected not `file_contains` (the file to contain `zz` (`a.txt`)), there is no such file
    not: a.txt: expected not `file_equals` (the file to be exactly `x` (`a.txt`)), there is no such file
    not: a.txt: expected not `file_not_contains` (the file to be there and not to contain `x` (`a.txt`)), there is no such file
    not: a.txt: expected not `file_unchanged` (`a.txt` to be as before), there is no such file
    not: a.txt: expected not `file_contains` (the file to contain `x` (`a.txt`) and the file to contain `x` (`b.txt`)), there is no such file
    not: a.txt: expected not `not` (not `file_equals` (the file to be exactly `x` (`a.txt`))), there is no such file
    ");
}

#[test]
fn what_is_there_or_came_and_went_proves_what_it_is_not() {
    hold(&[
        (not_unchanged(), gone()),
        (not_unchanged(), after(content("x"))),
        (not_equal(), after(content("y"))),
        (not_without(), after(content("x"))),
        (not_with(&[]), never()),
        (
            not(
                "file_exists",
                Expectation::Files(FilesWanted::Exist(paths())),
            ),
            never(),
        ),
        (
            not(
                "file_not_exists",
                Expectation::Files(FilesWanted::NotExist(paths())),
            ),
            after(content("x")),
        ),
    ]);
    let as_written = Observation {
        proof: Proof::AsWritten,
        ..never()
    };
    hold(&[(not_equal(), as_written)]);
}

#[test]
fn files_that_are_as_wanted_hold() {
    hold(&vec![
        (
            Expectation::Files(FilesWanted::Contain(texts(&[]))),
            after(digest("x")),
        ),
        (
            Expectation::Files(FilesWanted::Contain(texts(&["ell", "o"]))),
            after(content("hello")),
        ),
        (
            Expectation::Files(FilesWanted::Contain(texts(&["ell"]))),
            after(FileState::Content(b"\xffhello".to_vec())),
        ),
        (
            Expectation::Files(FilesWanted::NotContain(texts(&["x"]))),
            after(content("hello")),
        ),
        (
            Expectation::Files(FilesWanted::Equal(texts(&["hello"]))),
            after(content("hello")),
        ),
        (
            Expectation::Files(FilesWanted::Equal(texts(&["hello"]))),
            after(digest("hello")),
        ),
        (
            Expectation::Files(FilesWanted::Exist(paths())),
            after(content("")),
        ),
        (
            Expectation::Files(FilesWanted::Exist(paths())),
            after(FileState::Directory),
        ),
        (
            Expectation::Files(FilesWanted::Exist(paths())),
            after(FileState::Unreadable("Permission denied".into())),
        ),
        (
            Expectation::Files(FilesWanted::NotExist(paths())),
            file(content("x"), FileState::Absent),
        ),
        (
            Expectation::Files(FilesWanted::Unchanged(paths())),
            file(content("x"), content("x")),
        ),
        (
            Expectation::Files(FilesWanted::Unchanged(paths())),
            file(digest("x"), content("x")),
        ),
        (only(&["*.txt"]), altered(&[("a.txt", Change::Added)])),
        (only(&[]), altered(&[])),
    ]);
}

#[test]
fn other_content_is_explained() {
    let near = Observation {
        files: FilesSeen {
            changed: Some(BTreeMap::from([("sub/A.txt".to_owned(), Change::Added)])),
            ..after(FileState::Absent).files
        },
        ..says("done")
    };
    insta::assert_snapshot!(report(&vec![
        (Expectation::Files(FilesWanted::Contain(texts(&[]))), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::NotContain(texts(&[]))), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::Contain(texts(&["Hello", "x"]))), after(content("say hello"))),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), near),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), after(FileState::Directory)),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), after(content(""))),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), after(digest("x"))),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), says("done")),
        (Expectation::Files(FilesWanted::NotContain(texts(&["ell"]))), after(content("hello"))),
        (Expectation::Files(FilesWanted::NotContain(texts(&["x"]))), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::Equal(texts(&["hello"]))), after(content("hello\n"))),
        (Expectation::Files(FilesWanted::Equal(texts(&["goodbye\n"]))), after(content("hello\n"))),
        (Expectation::Files(FilesWanted::Equal(texts(&["hello"]))), after(content("\u{feff}hello"))),
        (Expectation::Files(FilesWanted::Equal(texts(&["hello"]))), after(content(&"hello ".repeat(20)))),
        (Expectation::Files(FilesWanted::Equal(texts(&["hello"]))), after(content(""))),
        (Expectation::Files(FilesWanted::Equal(texts(&["hello"]))), after(digest("hallo"))),
        (Expectation::Files(FilesWanted::Contain(texts(&["caf\u{fffd}"]))), after(FileState::Content(b"a caf\xe9".to_vec()))),
    ]), @r"
    file_contains: a.txt: expected the file to be there, there is no such file
    file_not_contains: a.txt: expected the file to be there, there is no such file
    file_contains: a.txt: expected the file to contain `Hello`, it is not in the file (9 bytes)
      hint: the text has it in another case or with other white space: `hello`
    file_contains: a.txt: expected the file to contain `x`, it is not in the file (9 bytes)
    file_contains: a.txt: expected the file to contain `x`, there is no such file
    file_contains: a.txt: expected the file to contain `x`, there is no such file
    file_contains: a.txt: expected the file to contain `x`, it is a directory
    file_contains: a.txt: expected the file to contain `x`, the file is empty
    unknowable: `a.txt` is too long to be searched (1 bytes)
    unknowable: `a.txt` was not looked at
    file_not_contains: a.txt: expected the file to be there and not to contain `ell`, it is there
    file_not_contains: a.txt: expected the file to be there and not to contain `x`, there is no such file
    file_equals: a.txt: expected the file to be exactly `hello`, it is `hello\n`
      hint: they differ only in white space
    file_equals: a.txt: expected the file to be exactly `goodbye\n`, it is `hello\n`
    file_equals: a.txt: expected the file to be exactly `hello`, it is `﻿hello`
    file_equals: a.txt: expected the file to be exactly `hello`, it has other content (120 bytes)
    file_equals: a.txt: expected the file to be exactly `hello`, the file is empty
    file_equals: a.txt: expected the file to be exactly `hello`, it has other content (5 bytes)
    file_contains: a.txt: expected the file to contain `caf�`, it is not in the file (6 bytes)
    ");
}

#[test]
fn other_states_are_explained() {
    let gone = || file(content("x"), FileState::Absent);
    insta::assert_snapshot!(report(&[
        (Expectation::Files(FilesWanted::Exist(paths())), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::Exist(paths())), gone()),
        (Expectation::Files(FilesWanted::NotExist(paths())), file(content("x"), content("x"))),
        (Expectation::Files(FilesWanted::NotExist(paths())), after(FileState::Directory)),
        (Expectation::Files(FilesWanted::Unchanged(paths())), file(content("x"), content("y"))),
        (Expectation::Files(FilesWanted::Unchanged(paths())), gone()),
        (Expectation::Files(FilesWanted::Unchanged(paths())), after(content("x"))),
        (Expectation::Files(FilesWanted::Unchanged(paths())), after(FileState::Absent)),
        (Expectation::Files(FilesWanted::Unchanged(paths())), file(FileState::Directory, FileState::Directory)),
        (only(&["*.txt"]), altered(&[("a.txt", Change::Added), ("b.md", Change::Removed), ("c", Change::Modified(Alteration::Content))])),
        (only(&[]), says("done")),
    ]), @"
    file_exists: expected `a.txt` to be there, nothing is there
    file_exists: expected `a.txt` to be there, it is gone
    file_not_exists: expected `a.txt` not to be there, a file of 1 byte is there
    file_not_exists: expected `a.txt` not to be there, a directory is there
    file_unchanged: expected `a.txt` to be as before, its content changed
    file_unchanged: expected `a.txt` to be as before, it is gone
    file_unchanged: expected `a.txt` to be as before, it was not there before
    file_unchanged: expected `a.txt` to be as before, nothing was there, before or after
    unknowable: `a.txt` is a directory: name its files, or use `only_changed`
    only_changed: b.md: expected nothing in the fixture but `*.txt` to change, it was removed
    only_changed: c: expected nothing in the fixture but `*.txt` to change, its content changed
    unknowable: `only_changed` needs a fixture (`--fixture`) to compare with
    ");
}

#[test]
fn nothing_is_said_of_what_nobody_could_see() {
    insta::assert_snapshot!(report(&[
        (Expectation::Files(FilesWanted::NotExist(paths())), after(FileState::Unreadable("it is a socket".into()))),
        (Expectation::Files(FilesWanted::NotExist(paths())), file(FileState::Unknown("x".into()), content("x"))),
        (Expectation::Files(FilesWanted::NotExist(paths())), after(FileState::Unknown("it is in memory".into()))),
        (Expectation::Files(FilesWanted::Exist(paths())), after(FileState::Unknown("it is in memory".into()))),
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), after(FileState::Unknown("it is in memory".into()))),
        (Expectation::Files(FilesWanted::Unchanged(paths())), after(FileState::Unknown("it is in memory".into()))),
        (Expectation::Files(FilesWanted::Unchanged(paths())), file(FileState::Unknown("not looked".into()), content("x"))),
    ]), @r#"
    file_not_exists: expected `a.txt` not to be there, something is there: it is a socket
    file_not_exists: expected `a.txt` not to be there, a file of 1 byte is there
    unknowable: it cannot be told what is at `a.txt`: it is in memory
    unknowable: it cannot be told what is at `a.txt`: it is in memory
    unknowable: it cannot be told what is at `a.txt`: it is in memory
    unknowable: it cannot be told what is at `a.txt`: it is in memory
    unknowable: it cannot be told what is at `a.txt`: not looked
    "#);
}

#[test]
fn what_cannot_be_read_neither_holds_nor_does_not() {
    let shut = || after(FileState::Unreadable("Permission denied".into()));
    let not = |key, inner| Expectation::Not(vec![(key, inner)]);
    insta::assert_snapshot!(report(&[
        (Expectation::Files(FilesWanted::Contain(texts(&["x"]))), shut()),
        (Expectation::Files(FilesWanted::NotContain(texts(&["x"]))), shut()),
        (Expectation::Files(FilesWanted::Equal(texts(&["x"]))), shut()),
        (Expectation::Files(FilesWanted::Contain(texts(&[]))), shut()),
        (not("file_contains", Expectation::Files(FilesWanted::Contain(texts(&["x"])))), shut()),
        (not("file_not_contains", Expectation::Files(FilesWanted::NotContain(texts(&["x"])))), shut()),
        (not("file_equals", Expectation::Files(FilesWanted::Equal(texts(&["x"])))), shut()),
    ]), @"
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    unknowable: `a.txt` cannot be read: Permission denied
    ");
}

#[test]
fn a_pattern_names_the_fixture_too() {
    hold(&[
        (
            only(&["/tmp/f[[]x]/*.txt"]),
            altered(&[("a.txt", Change::Added)]),
        ),
        (
            only(&["/tmp/f[[]x]/**"]),
            altered(&[("b/a.txt", Change::Added)]),
        ),
        (only(&["/tmp/f[[]x]"]), altered(&[(".", MODE)])),
    ]);
}

#[test]
fn other_kinds_and_modes_are_changes() {
    insta::assert_snapshot!(report(&[
        (Expectation::Files(FilesWanted::Unchanged(paths())), other(content("x"), MODE)),
        (Expectation::Files(FilesWanted::Unchanged(paths())), other(content("x"), LINK)),
        (Expectation::Files(FilesWanted::Unchanged(paths())), other(FileState::Unreadable("no".into()), MODE)),
        (Expectation::Files(FilesWanted::Unchanged(paths())), other(FileState::Directory, MODE)),
        (only(&["/tmp/f/*"]), altered(&[("a.txt", MODE), ("b.txt", LINK)])),
    ]), @"
    file_unchanged: expected `a.txt` to be as before, its mode changed from 644 to 755
    file_unchanged: expected `a.txt` to be as before, it was a link and is a file now
    file_unchanged: expected `a.txt` to be as before, its mode changed from 644 to 755
    file_unchanged: expected `a.txt` to be as before, its mode changed from 644 to 755
    only_changed: a.txt: expected nothing in the fixture but `/tmp/f/*` to change, its mode changed from 644 to 755
    only_changed: b.txt: expected nothing in the fixture but `/tmp/f/*` to change, it was a link and is a file now
    ");
}

#[test]
fn what_a_path_leads_over_belongs_to_it() {
    let elsewhere = Change::Modified(Alteration::Content);
    let seen = |state: FileState, over: &[&str], changed: &[(&str, Change)]| {
        let mut seen = file(state.clone(), state);
        let changed = changed
            .iter()
            .map(|(path, change)| ((*path).to_owned(), *change));
        seen.files.changed = Some(changed.collect());
        seen.files.paths.get_mut("a.txt").unwrap().inside = Some(way(over));
        seen
    };
    let unchanged = || Expectation::Files(FilesWanted::Unchanged(paths()));
    insta::assert_snapshot!(report(&[
        (unchanged(), seen(content("x"), &["a.txt", "b.txt"], &[("a.txt", elsewhere)])),
        (unchanged(), seen(content("x"), &["a.txt", "b.txt"], &[("b.txt", MODE)])),
        (unchanged(), seen(content("x"), &["dir", "d1", "d1/f"], &[("dir", elsewhere)])),
        (unchanged(), seen(content("x"), &["dir", "d1", "d1/f"], &[("d1", LINK)])),
        (unchanged(), seen(FileState::Directory, &["a.txt", "d1"], &[("a.txt", elsewhere)])),
        (unchanged(), seen(FileState::Directory, &["a.txt", "d1"], &[("d1/f", elsewhere)])),
    ]), @"
    file_unchanged: expected `a.txt` to be as before, it is a link that leads elsewhere now
    file_unchanged: expected `a.txt` to be as before, its mode changed from 644 to 755
    file_unchanged: expected `a.txt` to be as before, `dir` is a link that leads elsewhere now
    file_unchanged: expected `a.txt` to be as before, `d1` was a link and is a file now
    file_unchanged: expected `a.txt` to be as before, it is a link that leads elsewhere now
    file_unchanged: expected `a.txt` to be as before, `d1/f` changed
    ");
    let other_folder = || seen(content("x"), &["dir", "dir/f"], &[("dir", MODE)]);
    hold(&[
        (unchanged(), other_folder()),
        (
            unchanged(),
            seen(
                FileState::Directory,
                &["a.txt", "d1"],
                &[("d2/f", elsewhere)],
            ),
        ),
    ]);
}

/// An observation in which these could not be looked at.
fn hidden(changed: &[(&str, Change)], unseen: &[(&str, PathKind)]) -> Observation {
    let mut seen = altered(changed);
    let unseen = unseen.iter().map(|(path, kind)| {
        let unseen = Unseen {
            kind: *kind,
            reason: "Permission denied".to_owned(),
        };
        ((*path).to_owned(), unseen)
    });
    seen.files.unseen = unseen.collect();
    seen
}

#[test]
fn what_is_hidden_may_be_anything() {
    let shut = || hidden(&[("sub", MODE)], &[("sub", PathKind::Directory)]);
    let root = || hidden(&[(".", MODE)], &[(".", PathKind::Directory)]);
    let file = || hidden(&[], &[("a.txt", PathKind::File)]);
    hold(&[
        (only(&["sub", "sub/**"]), shut()),
        (only(&["**"]), shut()),
        (only(&["/tmp/f[[]x]/**"]), shut()),
        (only(&["**"]), root()),
        (only(&["*.txt"]), file()),
    ]);
    let unchanged = |path: &str| Expectation::Files(FilesWanted::Unchanged(vec![path.to_owned()]));
    let folder = |path: &str, unseen: &[(&str, PathKind)]| {
        let mut seen = hidden(&[], unseen);
        let file = FileSeen {
            before: FileState::Directory,
            after: FileState::Directory,
            inside: Some(way(&[path])),
        };
        seen.files.paths.insert(path.to_owned(), file);
        seen
    };
    let inner = [("sub/inner", PathKind::Directory)];
    hold(&[(unchanged("other"), folder("other", &inner))]);
    insta::assert_snapshot!(report(&[
        (only(&["sub"]), shut()),
        (only(&["sub", "sub/*"]), shut()),
        (only(&["sub", "sub/a*/**"]), shut()),
        (only(&["sub/inner/**", "sub"]), shut()),
        (only(&[]), shut()),
        (only(&["."]), root()),
        (only(&["b.txt"]), file()),
        (unchanged("sub"), folder("sub", &inner)),
        (unchanged("sub/inner/deep"), folder("sub/inner/deep", &inner)),
        (unchanged("."), folder(".", &inner)),
        (unchanged("sub"), folder("sub", &[(".", PathKind::Directory)])),
    ]), @"
    unknowable: it cannot be told what is in `sub`: Permission denied
    unknowable: it cannot be told what is in `sub`: Permission denied
    unknowable: it cannot be told what is in `sub`: Permission denied
    unknowable: it cannot be told what is in `sub`: Permission denied
    only_changed: sub: expected nothing in the fixture to change, its mode changed from 644 to 755
    unknowable: it cannot be told what is in `.`: Permission denied
    unknowable: it cannot be told whether `a.txt` changed: Permission denied
    unknowable: it cannot be told what is in `sub/inner`: Permission denied
    unknowable: it cannot be told what is in `sub/inner`: Permission denied
    unknowable: it cannot be told what is in `sub/inner`: Permission denied
    unknowable: it cannot be told what is in `.`: Permission denied
    ");
}
