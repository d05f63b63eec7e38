//! `mcp-assert list`: what a server offers. No tool is called.

use super::{
    Context,
    asking::{self, print},
    running::Refusal,
};
use crate::{
    cli::list::{List, ListArgs},
    inspect::{catalog::Offer, list},
};
use mcp::observation::catalog::Listing;
use text::exit::ExitCode;

/// Prints the lists, or one entry.
pub(super) fn list(args: &ListArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let (offer, secrets) = asking::offered(&args.from, context)?;
    print(&secrets.mask(&shown(args, &offer)?), args.json, context)?;
    asking::complete(&offer).map(|()| ExitCode::Passed)
}

/// What is printed.
fn shown(args: &ListArgs, offer: &Offer) -> Result<String, Refusal> {
    let only = args.list.map(listing);
    let (Some(listing), Some(name)) = (only, &args.name) else {
        return Ok(match (args.json, only) {
            (true, Some(listing)) => pretty(&offer.entries(listing).into()),
            (true, None) => pretty(&offer.json()),
            (false, only) => list::offer(offer, only),
        });
    };
    let mut entries = offer.entries(listing).iter();
    match entries.find(|entry| entry[listing.key()] == *name) {
        Some(entry) if args.json => Ok(pretty(entry)),
        Some(entry) => {
            let of_catalog = args.from.catalog.is_some();
            let command = of_catalog.then(|| ["--server".to_owned(), "COMMAND".to_owned()]);
            let server = command.or_else(|| args.from.server.named());
            let words: Vec<&str> = server.iter().flatten().map(String::as_str).collect();
            Ok(list::entry(listing, entry, &words))
        }
        None => Err(unknown(offer, listing, name)),
    }
}

/// The refusal of a name that the server does not list.
pub(super) fn unknown(offer: &Offer, listing: Listing, name: &str) -> Refusal {
    let kind = listing.entry();
    let names = offer.names(listing);
    if names.is_empty() {
        return Refusal::invalid(format!("unknown {kind} `{name}`: the server lists none"));
    }
    let what = list::word(listing);
    Refusal::invalid(format!("unknown {kind} `{name}`")).with_meant(name, what, &names)
}

/// JSON for people and programs; what a terminal would interpret is escaped.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    format!("{}\n", text::workflow::neutral::json(format!("{value:#}")))
}

fn listing(list: List) -> Listing {
    match list {
        List::Tools => Listing::Tools,
        List::Resources => Listing::Resources,
        List::Prompts => Listing::Prompts,
        List::Templates => Listing::ResourceTemplates,
    }
}
