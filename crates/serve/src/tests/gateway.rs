//! The profile `gateway`: its list, and what its tools say.

use serde_json::{Value, json};

use super::http::{Site, call, keys, modern, records};
use super::{Client, quick};
use crate::http::{Auth, HttpOptions};
use crate::tap::{JournalTo, TapOptions};
use crate::{FileTools, Offer, Profile, Selection, ServeOptions};

fn options() -> ServeOptions {
    let (profile, selection) = (Profile::Gateway, Selection::default());
    ServeOptions {
        profile,
        offer: Offer::new(profile, &selection, None, FileTools::Absent).unwrap(),
        ..quick()
    }
}

#[tokio::test]
async fn twelve_tools_are_listed_and_nothing_else_is_there() {
    let mut client = Client::ready(options()).await;
    let (_, listed) = client.request("tools/list", json!({})).await;
    let mut seen = Vec::new();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let names = |schema: &str| -> Vec<&str> {
            let members = tool[schema]["properties"].as_object();
            members
                .map(|members| members.keys().map(String::as_str).collect())
                .unwrap_or_default()
        };
        let (input, output) = (
            names("inputSchema").join(" "),
            names("outputSchema").join(" "),
        );
        seen.push(format!(
            "{}: {input} -> {output}",
            tool["name"].as_str().unwrap()
        ));
    }
    let wanted = [
        "whoami:  -> subject auth_type email name claims",
        "echo: message extras -> message extras injected",
        "headers:  -> headers count",
        "fixed_response: key -> key hash body",
        "sized_response: size -> size body",
        "lorem: words seed -> words body",
        "error: message category as_tool -> triggered",
        "slow: milliseconds -> slept_ms",
        "flaky: fail_rate seed call_id -> failed roll fail_rate",
        "progress: steps step_ms -> steps notified done",
        "long_output: blocks chars -> ",
        "chatty:  -> ",
    ];
    assert_eq!(seen, wanted);
    client.refused("prompts/list", json!({})).await;
    client
        .refused("tools/call", json!({"name": "test_simple_text"}))
        .await;
    client.close().await;
}

#[tokio::test]
async fn each_tool_does_what_it_says() {
    let mut client = Client::ready(options()).await;
    let mut said = async |tool: &str, arguments: Value| client.call(tool, arguments).await;
    let of = |result: &Value| result["structuredContent"].clone();
    let fixed = said("fixed_response", json!({"key": "hello"})).await;
    let body = "fixed[hello]: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(of(&fixed)["body"], body);
    let lorem = said("lorem", json!({"words": 3, "seed": "42"})).await;
    assert_eq!(
        of(&lorem),
        json!({"words": 3, "body": "Laboris in deserunt."})
    );
    assert_eq!(of(&said("lorem", json!({"words": 0})).await)["words"], 50);
    let failed = said("flaky", json!({"fail_rate": 0.5, "seed": "test"})).await;
    let text = "flaky failure (roll=0.1331 < rate=0.5000)";
    assert_eq!(
        (&failed["isError"], &failed["content"][0]["text"]),
        (&json!(true), &json!(text))
    );
    let passed = said(
        "flaky",
        json!({"fail_rate": 0.5, "seed": "test", "call_id": 2}),
    )
    .await;
    assert_eq!(of(&passed)["roll"], json!(0.577_303_050_375_265_2));
    let error = said("error", json!({"as_tool": true})).await;
    assert_eq!(
        (&error["isError"], of(&error)),
        (&json!(true), json!({"triggered": true}))
    );
    assert_eq!(
        of(&said("slow", json!({"milliseconds": 70_000})).await)["slept_ms"],
        60_000
    );
    let echo = said("echo", json!({"message": "hi", "added": 1})).await;
    assert_eq!(
        of(&echo),
        json!({"message": "hi", "injected": {"added": 1}})
    );
    assert_eq!(
        of(&said("headers", json!({})).await),
        json!({"headers": {}, "count": 0})
    );
    assert_eq!(
        of(&said("whoami", json!({})).await)["auth_type"],
        "anonymous"
    );
    let long = said("long_output", json!({"blocks": 99, "chars": 12})).await;
    assert_eq!(long["content"].as_array().unwrap().len(), 50);
    assert_eq!(long["content"][1]["text"], "[block 1] ab");
    assert_eq!(
        said("chatty", json!({})).await["content"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    let missing = said("sized_response", json!({})).await;
    assert_eq!(missing["isError"], true);
    client.close().await;
}

#[tokio::test]
async fn progress_is_told_step_by_step() {
    let mut client = Client::ready(options()).await;
    let params =
        json!({"name": "progress", "arguments": {"steps": 2}, "_meta": {"progressToken": "t"}});
    let (told, result) = client.request("tools/call", params).await;
    let told: Vec<Value> = told
        .iter()
        .map(|message| message["params"].clone())
        .collect();
    let step = |n: u64| {
        let message = format!("step {n}/2");
        json!({"progressToken": "t", "progress": n, "total": 2, "message": message})
    };
    assert_eq!(told.len(), 2);
    for (at, told) in told.iter().enumerate() {
        let wanted = step(at as u64 + 1);
        assert_eq!(told["message"], wanted["message"]);
        assert_eq!(told["progress"].as_f64(), wanted["progress"].as_f64());
    }
    let wanted = json!({"steps": 2, "notified": true, "done": true});
    assert_eq!(result["result"]["structuredContent"], wanted);
    client.close().await;
}

const SENT: [(&str, &str); 6] = [
    ("x-api-key", "second=key"),
    ("x-auth-token", "t0ps3cret"),
    ("x-forwarded-for", "192.0.2.7"),
    ("user-agent", "tester/1"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
];

/// The structured content of a tool without arguments, called over HTTP.
async fn called(site: &Site, tool: &str) -> Value {
    let asked = modern("tools/call", json!({"name": tool, "arguments": {}}));
    let headers = [SENT.as_slice(), &[("mcp-name", tool)]].concat();
    site.post(&headers, &asked).await.answer()["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn over_http_the_caller_and_the_headers_are_shown_and_noted_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.jsonl");
    let taps = TapOptions {
        journal: Some(JournalTo::File(file.clone())),
        ..TapOptions::default()
    };
    let http = HttpOptions {
        auth: Auth::Key(keys()),
        ..HttpOptions::default()
    };
    let site = Site::noted(options(), http, &taps).await;
    let wanted = json!({"subject": "apikey:bob", "auth_type": "apikey", "name": "bob"});
    assert_eq!(called(&site, "whoami").await, wanted);
    let shown = called(&site, "headers").await["headers"].clone();
    assert_eq!(shown["x-api-key"], json!(["[redacted]"]));
    assert_eq!(shown["x-auth-token"], json!(["[redacted]"]));
    assert_eq!(shown["user-agent"], json!(["tester/1"]));
    let stranger = [("x-api-key", "no-such-key")];
    let asked = call("whoami", &json!({}));
    assert_eq!(site.post(&stranger, &asked).await.status, 401);
    site.end().await;
    let text = std::fs::read_to_string(&file).unwrap();
    for secret in ["second=key", "t0ps3cret", "no-such-key"] {
        assert!(!text.contains(secret), "{text}");
    }
    let records = records(&file);
    let noted = &records[1];
    for (name, value) in [
        ("tool", "whoami"),
        ("identity", "bob"),
        ("peer", "127.0.0.1"),
        ("forwarded_for", "192.0.2.7"),
        ("user_agent", "tester/1"),
        ("transport", "http"),
        ("protocol", "2026-07-28"),
        ("era", "modern"),
    ] {
        assert_eq!(noted[name], value, "{noted:#}");
    }
    let auth = records.iter().find(|record| record["kind"] == "auth");
    let auth = auth.unwrap();
    assert_eq!((&auth["ok"], &auth["status"]), (&json!(false), &json!(401)));
}
