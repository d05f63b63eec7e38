//! Pages of a list: opaque cursors that only the list that gave them takes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// One page, and the cursor of the next.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next: Option<String>,
}

/// The page of `items` that `asked` names; `list` keeps the cursors of two lists apart.
pub(super) fn page<T>(
    list: &str,
    items: Vec<T>,
    size: Option<usize>,
    asked: Option<&PaginatedRequestParams>,
) -> Result<Page<T>, ErrorData> {
    let cursor = asked.and_then(|asked| asked.cursor.as_deref());
    let from = match (cursor, size) {
        (None, _) => 0,
        (Some(cursor), Some(size)) => read(list, cursor)
            .filter(|from| *from > 0 && from % size == 0 && *from < items.len())
            .ok_or_else(bad_cursor)?,
        (Some(_), None) => return Err(bad_cursor()),
    };
    let total = items.len();
    let size = size.unwrap_or(usize::MAX);
    let items: Vec<T> = items.into_iter().skip(from).take(size).collect();
    let end = from.saturating_add(items.len());
    Ok(Page {
        items,
        next: (end < total).then(|| write(list, end)),
    })
}

fn write(list: &str, from: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}:{from}"))
}

fn read(list: &str, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    text.strip_prefix(list)?.strip_prefix(':')?.parse().ok()
}

fn bad_cursor() -> ErrorData {
    ErrorData::invalid_params("invalid cursor", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walking_the_pages_gives_the_whole_list_once() {
        for size in 1..8 {
            let mut seen = Vec::new();
            let mut cursor = None;
            loop {
                let asked = PaginatedRequestParams::default().with_cursor(cursor);
                let page = page("tools", (0..7).collect(), Some(size), Some(&asked)).unwrap();
                assert!(page.items.len() <= size);
                seen.extend(page.items);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, (0..7).collect::<Vec<_>>(), "page size {size}");
        }
    }

    #[test]
    fn only_cursors_of_this_list_are_taken() {
        for cursor in [
            "",
            "2",
            "nonsense!",
            &write("prompts", 2),
            &write("tools", 0),
            &write("tools", 3),
            &write("tools", 8),
        ] {
            let asked = PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()));
            let error = page("tools", (0..7).collect(), Some(2), Some(&asked))
                .err()
                .unwrap_or_else(|| unreachable!("`{cursor}` was taken"));
            assert_eq!(error.code.0, -32602);
        }
    }
}
