//! References between files: a relative `$ref` is a file beside the one it stands in. Files are read by
//! whoever knows the suite's folder; what lies elsewhere is not fetched.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use jsonschema::{Retrieve, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::{Invalid, NotCompiled, ReadDocument, Schema, build};

/// The most documents that one schema may refer to.
const MOST_DOCUMENTS: usize = 64;

/// The scheme of addresses relative to the suite's folder.
const BESIDE: &str = "suite:";

/// The scheme of addresses from the root of the file system.
const ABSOLUTE: &str = "file:";

/// A folder above the suite's folder. Addresses cannot go above their root, so relative ones begin a few
/// such folders below it; brackets keep the name apart from those of files, where they are escaped.
const ABOVE: &str = "(above)";

/// How many folders above the suite's a reference can reach.
const MOST_ABOVE: usize = 16;

/// The characters that are escaped in file names.
const NAME: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Where a schema stands.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// In the suite itself.
    Suite,
    /// In a file, as the suite names it.
    File(&'a Path),
}

/// Why a schema cannot be used.
#[derive(Debug, PartialEq)]
pub struct Unusable {
    /// What is wrong, for people.
    pub reason: String,
    /// The part of the schema that is wrong, or the document that cannot be had, where it is one of these.
    pub about: Option<Value>,
}

impl Unusable {
    /// A schema that is wrong as a whole.
    pub fn whole(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            about: None,
        }
    }
}

/// A schema whose references may name files, or why there is none.
pub fn compile_beside(
    schema: &Value,
    base: Base<'_>,
    read: &ReadDocument<'_>,
) -> Result<Schema, Unusable> {
    let base = match base {
        Base::Suite => address(Path::new("suite")),
        Base::File(path) => address(path),
    };
    let shelf = Shelf::default();
    loop {
        let options = jsonschema::options()
            .with_base_uri(base.as_str())
            .with_retriever(shelf.clone());
        let error = match build(schema, options) {
            Ok(schema) => return Ok(schema),
            Err(NotCompiled::TooLarge) => {
                let reason = "it has more references than are followed";
                return Err(Unusable::whole(reason));
            }
            Err(NotCompiled::Invalid(error)) => error,
        };
        let Some(wanted) = shelf.take_wanted() else {
            return Err(Unusable {
                reason: told(&error),
                about: Some(error.about),
            });
        };
        let Some(path) = path_of(&wanted) else {
            return Err(Unusable {
                reason: format!("`{wanted}` is not fetched; name a file instead"),
                about: Some(wanted.into()),
            });
        };
        let shown = path.display();
        let unusable = |reason| Unusable {
            reason,
            about: Some(shown.to_string().into()),
        };
        let text = read(&path).map_err(unusable)?;
        let document = serde_json::from_str(&text)
            .map_err(|error| unusable(format!("`{shown}` is not JSON: {error}")))?;
        if !shelf.put(wanted, document) {
            let reason = format!("it refers to more than {MOST_DOCUMENTS} documents");
            return Err(Unusable::whole(reason));
        }
    }
}

/// Why a schema is invalid, and where in it.
fn told(error: &Invalid) -> String {
    match error.place.as_str() {
        "" => error.message.clone(),
        place => format!("{}, at `{place}`", error.message),
    }
}

/// The documents that were read, and the one that is missing: the validator asks for them in the middle of
/// its work, where nothing can be read.
#[derive(Debug, Clone, Default)]
struct Shelf(Arc<Mutex<Documents>>);

#[derive(Debug, Default)]
struct Documents {
    known: HashMap<String, Value>,
    wanted: Option<String>,
}

impl Shelf {
    fn take_wanted(&self) -> Option<String> {
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        documents.wanted.take()
    }

    /// Whether there was room for one more.
    fn put(&self, address: String, document: Value) -> bool {
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        documents.known.insert(address, document);
        documents.known.len() <= MOST_DOCUMENTS
    }
}

impl Retrieve for Shelf {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = documents.known.get(uri.as_str()).cloned();
        known.ok_or_else(|| {
            documents.wanted = Some(uri.as_str().to_owned());
            "not read yet".into()
        })
    }
}

/// The address of a file.
fn address(path: &Path) -> String {
    let mut segments = Vec::new();
    let mut scheme = BESIDE;
    for component in path.components() {
        match component {
            Component::Prefix(prefix) => {
                segments.push(escaped(&prefix.as_os_str().to_string_lossy()));
            }
            Component::RootDir => scheme = ABSOLUTE,
            Component::CurDir => {}
            Component::ParentDir => segments.push("..".to_owned()),
            Component::Normal(name) => segments.push(escaped(&name.to_string_lossy())),
        }
    }
    if scheme == BESIDE {
        let mut above = MOST_ABOVE;
        while segments.first().is_some_and(|first| first == "..") {
            segments.remove(0);
            above = above.saturating_sub(1);
        }
        segments.splice(0..0, std::iter::repeat_n(ABOVE.to_owned(), above));
    }
    format!("{scheme}///{}", segments.join("/"))
}

/// The file at an address; `None` when it is the address of something else.
fn path_of(address: &str) -> Option<PathBuf> {
    let beside = address.strip_prefix(BESIDE);
    let rest = beside.or_else(|| address.strip_prefix(ABSOLUTE))?;
    let segments: Vec<&str> = rest.strip_prefix("///")?.split('/').collect();
    let above = segments.iter().take_while(|it| **it == ABOVE).count();
    let mut path = PathBuf::new();
    if beside.is_some() {
        path.extend(std::iter::repeat_n("..", MOST_ABOVE.saturating_sub(above)));
    } else if !cfg!(windows) {
        path.push("/");
    }
    for segment in &segments[above..] {
        path.push(unescaped(segment)?);
    }
    Some(path)
}

/// A name with everything but letters, digits and a few marks as `%XX`.
fn escaped(name: &str) -> String {
    utf8_percent_encode(name, NAME).to_string()
}

/// The name that was escaped; `None` when it is none, or more than one.
fn unescaped(segment: &str) -> Option<String> {
    let name = percent_decode_str(segment).decode_utf8().ok()?;
    (!name.contains(['/', '\0'])).then(|| name.into_owned())
}
