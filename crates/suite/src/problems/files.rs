//! Problems of files and folders.

use super::{code, error};
use text::{diagnostic::Diagnostic, name, source::Origin};

/// A file or folder that cannot be read.
pub(crate) fn unreadable(path: &str, reason: &str) -> Diagnostic {
    let message = format!("cannot read `{}`: {reason}", name(path));
    error(code::UNREADABLE, message).with_help("check that it exists and may be read")
}

/// A file that the suite refers to and that cannot be read.
pub(crate) fn unreadable_beside(path: &str, reason: &str) -> Diagnostic {
    let message = format!("cannot read `{}`: {reason}", name(path));
    error(code::UNREADABLE, message).with_help("the path is relative to the YAML file")
}

/// Bytes that are not text, at the place of the first of them.
pub(crate) fn not_utf8(origin: Origin) -> Diagnostic {
    let message = format!("`{}` is not UTF-8", name(&origin.file.path));
    let problem = error(code::NOT_UTF8, message)
        .with_label("the first byte that is not")
        .with_help("save the file as UTF-8");
    Diagnostic {
        origin: Some(origin),
        ..problem
    }
}

/// A file that is too long for a suite.
pub(crate) fn file_too_large(path: &str, limit: &str) -> Diagnostic {
    let message = format!("`{}` is longer than {limit}", name(path));
    error(code::FILE_TOO_LARGE, message).with_help("split it into several files")
}

/// A path that is not a YAML file.
pub(crate) fn not_yaml(path: &str) -> Diagnostic {
    let message = format!("`{}` is not a YAML file", name(path));
    let help = "give a folder, or a file that ends in `.yaml` or `.yml`";
    error(code::NOT_YAML, message).with_help(help)
}
