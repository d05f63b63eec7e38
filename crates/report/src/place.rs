//! Paths of suites as other programs want them: from the root of the repository, and as a part of an address.

use text::address::encoded;

/// The path from the root of the repository.
pub(super) fn beneath(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let from_root = file.starts_with('/');
    let folder = if from_root { "" } else { folder };
    for part in folder.split('/').chain(file.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let root = if from_root { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// A path as a part of an address.
pub(super) fn escaped(path: &str) -> String {
    encoded(path.trim_start_matches("./"))
}

#[cfg(test)]
mod tests {
    use super::{beneath, escaped};

    #[test]
    fn paths_begin_at_the_root_of_the_repository() {
        let case = |folder, file, wanted: &str| assert_eq!(beneath(folder, file), wanted);
        case("", "./evals/a.yaml", "evals/a.yaml");
        case("sub/x", "../evals/a.yaml", "sub/evals/a.yaml");
        case(
            "sub",
            "/github/workspace/a.yaml",
            "/github/workspace/a.yaml",
        );
        case("", "../a.yaml", "../a.yaml");
    }

    #[test]
    fn an_address_has_only_plain_signs() {
        assert_eq!(escaped("./a\"b<é>#.yaml"), "a%22b%3C%C3%A9%3E%23.yaml");
    }
}
