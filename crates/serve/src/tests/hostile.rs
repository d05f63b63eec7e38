//! Whatever a client sends, the server answers the next ping.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Client, quick};

/// JSON of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z_]{0,10}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Something close to a request: our methods and names with odd parameters.
fn any_request() -> impl Strategy<Value = Value> {
    let method = prop::sample::select(vec![
        "initialize",
        "server/discover",
        "ping",
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/subscribe",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "subscriptions/listen",
        "notifications/cancelled",
        "notifications/initialized",
    ]);
    let name = prop::sample::select(vec![
        "echo",
        "reply",
        "structured",
        "error",
        "flaky",
        "counter",
        "emit",
        "slow",
        "x",
    ]);
    let with_params = (method, name, any_json(), any_json(), any_json()).prop_map(
        |(method, name, arguments, meta, id)| {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {
                "name": name, "uri": name, "arguments": arguments, "_meta": meta,
                "requestId": id, "level": name, "cursor": name,
            }})
        },
    );
    let bare = (any_json(), any_json())
        .prop_map(|(id, params)| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    prop_oneof![with_params, bare, any_json()]
}

/// Sends the lines, then a ping, and waits for its answer.
fn survives(lines: &[Vec<u8>]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut client = Client::ready(quick()).await;
        for line in lines {
            tokio::io::AsyncWriteExt::write_all(&mut client.write, line)
                .await
                .unwrap();
            client.send_text("\n").await;
        }
        client
            .send(&json!({"jsonrpc": "2.0", "id": "the last", "method": "ping"}))
            .await;
        loop {
            let message = client.message().await;
            if message["id"] == "the last" {
                break;
            }
        }
        client.close().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8)) {
        survives(&lines);
    }

    #[test]
    fn any_messages(messages in prop::collection::vec(any_request(), 0..8)) {
        let lines: Vec<Vec<u8>> = messages.iter().map(|message| message.to_string().into_bytes()).collect();
        survives(&lines);
    }
}
