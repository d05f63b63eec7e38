//! What the server says of itself.

use serde_json::Value;

use crate::inspect::lint::{
    rule::{Findings, rules},
    view::View,
};
use mcp::observation::catalog::Listing;
use report::inspection::Kind;

rules! {
    "E145" "icon-scheme" Error "very-high" [security] Server(icons):
        "an icon is neither at an https address nor a data URI" =>
        "serve the icon over https, or embed it as `data:`";
    "W147" "no-version" Warning "very-high" [] Server(version):
        "the server states no version" =>
        "set `serverInfo.version`, so that reports name what was tested";
    "W149" "empty-capability" Warning "high" [] Server(empty):
        "a capability is declared, and its list is empty" =>
        "declare the capability only if there is something to list";
}

fn icons(view: &View<'_>, found: &mut Findings<'_>) {
    let server = view.offer.said("serverInfo");
    let server = server.map(|it| (Kind::Server, "", "/serverInfo", it));
    let entries = view.entries.iter();
    let entries = entries.map(|it| (it.kind, it.name, "", it.json));
    for (kind, name, above, json) in server.into_iter().chain(entries) {
        let icons = json.get("icons").and_then(Value::as_array);
        for (at, icon) in icons.into_iter().flatten().enumerate() {
            let source = icon.get("src").and_then(Value::as_str).unwrap_or_default();
            if !source.starts_with("https://") && !source.starts_with("data:") {
                let message = "the icon is neither at an https address nor a data URI";
                let pointer = format!("{above}/icons/{at}/src");
                let finding = found.about(kind, name).say(pointer, message);
                finding.evidence = Some(source.to_owned());
            }
        }
    }
}

/// A bare list of tools says nothing of the server.
fn version(view: &View<'_>, found: &mut Findings<'_>) {
    let info = view.offer.said("serverInfo");
    let version = info.and_then(|it| it.get("version")?.as_str());
    if info.is_some() && version.is_none_or(|it| it.trim().is_empty()) {
        found.say("/serverInfo/version", "the server states no version");
    }
}

fn empty(view: &View<'_>, found: &mut Findings<'_>) {
    for listing in [Listing::Tools, Listing::Prompts, Listing::Resources] {
        let name = listing.member();
        let is_empty = view.offer.entries(listing).is_empty()
            // Templates are resources too.
            && (listing != Listing::Resources
                || view.offer.entries(Listing::ResourceTemplates).is_empty());
        if is_empty && view.offer.declares(name) {
            let message = format!("`{name}` is declared, and the list is empty");
            found.say(format!("/capabilities/{name}"), message);
        }
    }
}
