//! Captured data in texts of the author's that have a syntax. A [`Part`] says whose a piece of a text is; data means
//! itself wherever it is put, and has no meaning in the syntax of the path or the pattern around it.

mod path;
mod pattern;

pub use self::{path::path, pattern::pattern};

use super::{
    Dialect,
    template::{Bindings, Part, Template},
};

/// The text of a path whose markers have values. Under the Go tool's rules they are part of the path.
pub fn filled_path(template: &Template, bindings: &Bindings) -> Result<String, String> {
    let parts = template.parts(bindings);
    let parts = parts.map_err(|unknown| unknown.to_string())?;
    let text: String = parts.iter().map(Part::text).collect();
    match bindings.dialect {
        Dialect::Native => {
            path(&parts).map_err(|reason| format!("`{text}` is not a path: {reason}"))
        }
        Dialect::Compat => Ok(text),
    }
}
