//! Where the references of a schema lead, into the other documents it refers to as well: looked up by what the
//! validator looks them up by, so that both see the same.

use std::sync::Arc;

use jsonschema::{Draft, ReferencingError, Registry, Retrieve, Uri, uri};
use referencing::Resolver;
use serde_json::Value;

/// A schema, and the documents it refers to.
#[derive(Debug, Clone)]
pub(super) struct Layout(Arc<Documents>);

#[derive(Debug)]
struct Documents {
    registry: Registry<'static>,
    root: Uri<String>,
    draft: Draft,
}

/// A place in a schema from which references are looked up.
#[derive(Clone)]
pub(super) struct Place<'a> {
    resolver: Resolver<'a>,
    draft: Draft,
}

impl Layout {
    /// That of a schema, which has this address unless it gives itself one. Errs when it refers to a document that
    /// cannot be had.
    pub(super) fn new(
        schema: Value,
        address: Option<&str>,
        retriever: impl Retrieve + 'static,
    ) -> Result<Self, ReferencingError> {
        let draft = Draft::default().detect(&schema);
        let resource = draft.create_resource_ref(&schema);
        let root = uri::from_str(address.or(resource.id()).unwrap_or_default())?;
        let registry = Registry::new()
            .retriever(retriever)
            .draft(draft)
            .add(root.as_str(), draft.create_resource(schema))?
            .prepare()?;
        Ok(Self(Arc::new(Documents {
            registry,
            root,
            draft,
        })))
    }

    /// The schema itself, and its place; `None` where its own address is none.
    pub(super) fn root(&self) -> Option<(&Value, Place<'_>)> {
        let Documents {
            registry,
            root,
            draft,
        } = &*self.0;
        let root = registry.resolver(root.clone()).lookup("#").ok()?;
        let (schema, resolver, _) = root.into_inner();
        let draft = *draft;
        Some((schema, Place { resolver, draft }))
    }
}

impl<'a> Place<'a> {
    /// The place within a schema that may have an address of its own; `None` where that is no address.
    pub(super) fn within(&self, schema: &Value) -> Option<Self> {
        let draft = self.draft.detect(schema);
        let resource = draft.create_resource_ref(schema);
        let resolver = self.resolver.in_subresource(resource).ok()?;
        Some(Self { resolver, draft })
    }

    /// What the reference under a keyword leads to, and the place there; `None` where it leads nowhere.
    pub(super) fn behind(&self, keyword: &str, reference: &str) -> Option<(&'a Value, Self)> {
        let found = if keyword == "$recursiveRef" {
            self.resolver.lookup_recursive_ref()
        } else {
            self.resolver.lookup(reference)
        };
        let (schema, resolver, draft) = found.ok()?.into_inner();
        Some((schema, Self { resolver, draft }))
    }
}
