//! Problems of files and folders; all but one have no place inside of a file.

use super::{code, labelled};
use text::{
    diagnostic::{Diagnostic, Severity},
    name,
    source::Origin,
};

/// A problem about a whole path.
fn about(code: &'static str, message: String, help: &str) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        origin: None,
        label: None,
        help: vec![help.to_owned()],
    }
}

/// A file or folder that cannot be read.
pub fn unreadable(path: &str, reason: &str) -> Diagnostic {
    about(
        code::UNREADABLE,
        format!("cannot read `{}`: {reason}", name(path)),
        "check that it exists and may be read",
    )
}

/// A file that the suite refers to and that cannot be read.
pub fn unreadable_beside(origin: Origin, path: &str, reason: &str) -> Diagnostic {
    let mut problem = unreadable(path, reason);
    problem.origin = Some(origin);
    problem.help = vec!["the path is relative to the YAML file".to_owned()];
    problem
}

/// Bytes that are no text.
pub fn not_utf8(origin: Origin) -> Diagnostic {
    let message = format!("`{}` is not UTF-8", name(&origin.file.path));
    let problem = Diagnostic {
        origin: Some(origin),
        ..about(code::NOT_UTF8, message, "save the file as UTF-8")
    };
    labelled(problem, "the first byte that is not")
}

/// Bytes that begin as a text in UTF-16 and are none.
pub fn not_utf16(origin: Origin) -> Diagnostic {
    let mut problem = not_utf8(origin);
    problem.label = Some("the file begins as UTF-16, and this is none".into());
    problem
}

/// A file too long for a suite.
pub fn file_too_large(path: &str, limit: &str) -> Diagnostic {
    about(
        code::FILE_TOO_LARGE,
        format!("`{}` is longer than {limit}", name(path)),
        "split it into several files",
    )
}

/// A path that is no YAML file.
pub fn not_yaml(path: &str) -> Diagnostic {
    about(
        code::NOT_YAML,
        format!("`{}` is not a YAML file", name(path)),
        "give a folder, or a file that ends in `.yaml` or `.yml`",
    )
}
