//! Inclusion of JSON Schemas: does one schema accept every value that another one accepts? Each answer is a proof, a value
//! that shows the contrary, or the statement that neither was found.
//!
//! The inner schema is taken apart into shapes, of which each is a conjunction of rules, and what is dropped from a shape
//! only makes it larger. The outer schema is checked against each shape keyword by keyword. So an answer without gaps is a
//! proof. A witness is believed only if the validator accepts it for the inner schema and refuses it for the outer one.
//!
//! Of an object that does not refuse further properties only the declared ones count: a server does nothing with the
//! others. Knows nothing of tools and catalogs: that is `changes`.

mod declared;
mod document;
mod rules;
mod sample;
mod shape;
#[cfg(test)]
mod tests;
mod type_set;
mod walk;
mod witness;

use serde_json::Value;

pub(crate) use self::declared::{Declaration, Place, declarations, having};
pub use self::sample::{TextsOf, Which, arguments};
pub(crate) use self::walk::shown;
use self::{
    document::{Part, Side, canonical},
    walk::{At, Walk},
};

/// Something that keeps one schema from including another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gap {
    /// The property, as `a.b[].c`; empty for the whole value.
    pub(crate) path: String,
    /// Which rule of the outer schema is not met.
    pub(crate) rule: Rule,
    /// What the inner schema says there, in short.
    pub(crate) inner: Option<String>,
    /// What the outer schema says there, in short.
    pub(crate) outer: Option<String>,
    /// How sure it is.
    pub(crate) proof: Proof,
}

/// A rule of a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Nothing is accepted.
    Nothing,
    /// The property is declared in the inner schema, and the outer one refuses it.
    Undeclared,
    /// Properties that neither schema declares are refused or limited.
    Closed,
    /// The property is required.
    Required,
    /// Only certain values.
    Values,
    /// Another keyword.
    Keyword(&'static str),
}

/// How sure a gap is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Proof {
    /// The inner schema accepts this value and the outer one does not.
    Witness(Value),
    /// There is neither a proof nor a witness, for this reason.
    Unproven(&'static str),
}

/// What is wanted of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// A value that shows it.
    Witness,
    /// Only whether there is one.
    Nothing,
}

/// What keeps `outer` from accepting all objects that `inner` accepts; nothing, if it accepts them all.
pub(crate) fn gaps(inner: &Value, outer: &Value, search: Search) -> Vec<Gap> {
    if inner == outer {
        return Vec::new();
    }
    let [inner, outer] = [inner, outer].map(canonical);
    Walk::new(&inner, &outer, search).included(&objects(&inner), &outer, &At::default())
}

/// The objects of a schema: arguments and structured content are nothing else.
fn objects(schema: &Value) -> [Part<'_>; 2] {
    [schema, &*shape::OBJECT].map(|it| (Side::Inner, it))
}
