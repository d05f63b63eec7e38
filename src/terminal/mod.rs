//! The view for people: result lines, live bars, and the closing report. All text of servers is cleaned before.

pub(crate) mod closing;
pub(crate) mod line;
pub(crate) mod live;
pub(crate) mod theme;
