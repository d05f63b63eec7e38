//! What people see: a result line for each outcome as it comes, live bars on a terminal, and the closing report.
//! Knows how things look and nothing of where verdicts come from. Nothing a server sends gets here raw.

pub(crate) mod closing;
pub(crate) mod line;
pub(crate) mod live;
pub(crate) mod theme;
