//! What a server never does, whatever it is asked.

use serde_json::{Value, json};

use super::{Client, quick};
use crate::{BenchTool, FileTools, Offer, Profile, Selection, ServeOptions};

/// Values of variables that are long enough to be found by more than chance.
fn secrets() -> Vec<String> {
    std::env::vars()
        .filter(|(name, _)| !name.starts_with("CARGO"))
        .map(|(_, value)| value)
        .filter(|value| value.len() >= 8)
        .collect()
}

#[tokio::test]
async fn no_answer_holds_a_value_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let selection = Selection::default();
    let options = ServeOptions {
        offer: Offer::new(Profile::Conformance, &selection, None, FileTools::Offered).unwrap(),
        files: Some(folder.path().to_owned()),
        ..quick()
    };
    let mut client = Client::start(options);
    // A client that cannot be asked gets an answer from every tool.
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    client.request("initialize", params).await;
    let mut said = String::new();
    for tool in BenchTool::all() {
        let arguments = json!({"path": "$HOME/${PATH}", "text": "$HOME"});
        for arguments in [json!({}), arguments] {
            let params = json!({"name": tool.name, "arguments": arguments});
            let (before, answer) = client.request("tools/call", params).await;
            said.extend([format!("{before:?}"), answer.to_string()]);
        }
    }
    for method in [
        "tools/list",
        "resources/list",
        "prompts/list",
        "resources/templates/list",
    ] {
        said.push_str(&client.request(method, json!({})).await.1.to_string());
    }
    let secrets = secrets();
    assert!(!secrets.is_empty(), "the test needs an environment");
    for secret in secrets {
        assert!(!said.contains(&secret), "`{secret}` in {said}");
    }
}

#[tokio::test]
async fn no_uri_reads_a_file() {
    let mut client = Client::ready(quick()).await;
    for uri in [
        "file:///etc/passwd",
        "/etc/passwd",
        "test://template/../../etc/passwd/data",
        "http://localhost/",
    ] {
        let error = client.refused("resources/read", json!({"uri": uri})).await;
        assert_eq!(error["code"], -32002, "{uri}");
    }
    let id = "%2e%2e%2fetc";
    let (_, answer) = client
        .request(
            "resources/read",
            json!({"uri": format!("test://template/{id}/data")}),
        )
        .await;
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    let body: Value = serde_json::from_str(text).unwrap();
    assert_eq!(body["id"], id, "an id is shown and nothing else");
}
