//! What `--list` shows: profiles, tools and faults. The documentation is made from it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::faults::catalogue::Fault;
use super::{BenchTool, FileTools, Offer, Profile, Selection};

/// The lists as JSON.
pub fn json() -> Value {
    let profiles = Profile::ALL.map(|profile| {
        json!({
            "name": profile.name(),
            "about": profile.about(),
            "tools": tools_of(profile),
        })
    });
    let tools = BenchTool::all().map(|tool| {
        json!({
            "name": tool.name,
            "about": tool.about,
            "needs": tool.touches_files().then_some("--files"),
        })
    });
    let faults = Fault::ALL.iter().map(|fault| {
        let row = fault.row();
        json!({
            "id": row.id,
            "argument": row.takes.shown(),
            "group": row.group.name(),
            "transports": row.carriers.iter().map(|on| on.name()).collect::<Vec<_>>(),
            "place": row.default_place,
            "class": row.reported(),
            "class_over_http": row.reported_over_http(),
            "phase": row.phase,
            "does": row.does,
        })
    });
    json!({
        "profiles": profiles,
        "tools": tools.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
    })
}

/// The lists for a human.
pub fn text() -> String {
    let mut out = String::from("Profiles\n");
    for profile in Profile::ALL {
        line(&mut out, profile.name(), profile.about());
    }
    out.push_str("\nTools\n");
    for tool in BenchTool::all() {
        line(&mut out, &tool.name, &tool.about);
    }
    out.push_str("\nFaults\n");
    for fault in Fault::ALL {
        let row = fault.row();
        let name = format!("{}{}", row.id, row.takes.shown());
        line(
            &mut out,
            &name,
            &format!("{}: {}", row.reported(), row.does),
        );
    }
    out
}

fn line(out: &mut String, name: &str, about: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {name:<34} {about}");
}

fn tools_of(profile: Profile) -> Vec<&'static str> {
    Offer::new(profile, &Selection::default(), None, FileTools::Absent)
        .map(|offer| offer.tool_names())
        // Only a glob can be wrong, and there is none.
        .unwrap_or_default()
}
