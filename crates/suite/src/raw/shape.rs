//! The maps of the format as data for the reference and the JSON Schema, and the macro that
//! defines a shape.

use serde_json::{Value, json};

/// A map of the format.
#[derive(Debug)]
pub(crate) struct ShapeDoc {
    /// The Rust name, which names the definition in the JSON Schema.
    pub(crate) name: &'static str,
    /// How messages and the reference call it: `` `server` ``.
    pub(crate) owner: &'static str,
    /// What it is for.
    pub(crate) doc: &'static str,
    /// Its keys in the order of the reference.
    pub(crate) keys: &'static [KeyDoc],
}

/// A key of a map.
#[derive(Debug)]
pub(crate) struct KeyDoc {
    /// The key.
    pub(crate) key: &'static str,
    /// What it means.
    pub(crate) doc: &'static str,
    /// What it takes, in words.
    pub(crate) words: fn() -> String,
    /// What it takes, as JSON Schema.
    pub(crate) schema: fn() -> Value,
    /// Adds the maps that stand under it.
    pub(crate) shapes: fn(&mut Vec<&'static ShapeDoc>),
}

impl ShapeDoc {
    /// Adds this map and those below it, each once.
    pub(crate) fn collect(&'static self, into: &mut Vec<&'static Self>) {
        if into.iter().any(|known| known.name == self.name) {
            return;
        }
        into.push(self);
        for key in self.keys {
            (key.shapes)(into);
        }
    }
}

/// The JSON Schema that refers to the definition of a map.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{}", definition(name)) })
}

/// The name of a map's definition: the Rust name without `Raw`.
pub(crate) fn definition(name: &str) -> &str {
    name.strip_prefix("Raw").unwrap_or(name)
}

/// A doc comment as one paragraph.
pub(crate) fn paragraph(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// Defines a map of the format: the struct, its list of keys, its reader and its documentation.
macro_rules! shape {
    (
        $(#[doc = $doc:literal])+
        $name:ident, $owner:literal {
            $($(#[doc = $field_doc:literal])+ $field:ident = $key:literal: $kind:ty;)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            /// The place of the map.
            #[allow(dead_code, reason = "problems of most maps are told at their keys")]
            pub(crate) at: $crate::yaml::At,
            $($(#[doc = $field_doc])+ pub(crate) $field: Option<$crate::raw::Field<$kind>>,)+
        }

        impl $name {
            /// The keys and what they mean.
            pub(crate) const SHAPE: &'static $crate::raw::ShapeDoc = &$crate::raw::ShapeDoc {
                name: stringify!($name),
                owner: $owner,
                doc: concat!($($doc, "\n"),+),
                keys: &[$($crate::raw::KeyDoc {
                    key: $key,
                    doc: concat!($($field_doc, "\n"),+),
                    words: <$kind as $crate::raw::Readable>::words,
                    schema: <$kind as $crate::raw::Readable>::schema,
                    shapes: <$kind as $crate::raw::Readable>::shapes,
                },)+],
            };

            /// The names of the keys.
            pub(crate) const KEYS: &'static [&'static str] = &[$($key,)+];
        }

        impl $crate::raw::Readable for $name {
            fn read(
                node: $crate::yaml::Node,
                reading: &mut $crate::raw::Reading,
            ) -> Option<Self> {
                let at = node.at;
                let entries = reading.shape(node, $owner, Self::KEYS)?;
                $(let mut $field = None;)+
                for entry in entries {
                    match entry.key.text.as_str() {
                        $($key => $field = reading.field(entry),)+
                        _ => reading.unknown_key(&entry.key, $owner, Self::KEYS),
                    }
                }
                // Built as a whole, so that the compiler reports keys that are not lowered.
                Some(Self { at, $($field,)+ })
            }

            fn words() -> String {
                "a map".into()
            }

            fn schema() -> serde_json::Value {
                $crate::raw::shape::reference(stringify!($name))
            }

            fn shapes(into: &mut Vec<&'static $crate::raw::ShapeDoc>) {
                Self::SHAPE.collect(into);
            }
        }
    };
}

pub(crate) use shape;
