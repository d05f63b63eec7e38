//! Lists, pages, profiles, resources, prompts, completion.

use serde_json::{Value, json};

use super::{Client, quick};
use crate::{FileTools, Offer, Profile, Selection, ServeOptions};

fn offering(profile: Profile, selection: &Selection, page_size: Option<usize>) -> ServeOptions {
    ServeOptions {
        offer: Offer::new(profile, selection, page_size, FileTools::Absent).unwrap(),
        ..quick()
    }
}

/// All entries of a list, page by page, and the number of pages.
async fn walk(client: &mut Client, method: &str, key: &str) -> (Vec<Value>, usize) {
    let mut entries = Vec::new();
    let mut params = json!({});
    let mut pages = 0;
    loop {
        let (_, answer) = client.request(method, params).await;
        pages += 1;
        entries.extend(answer["result"][key].as_array().expect(method).clone());
        match answer["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return (entries, pages),
        }
    }
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
];

#[tokio::test]
async fn pages_add_up_to_the_whole_list() {
    let single = offering(Profile::Conformance, &Selection::default(), Some(1));
    let mut whole = Client::ready(ServeOptions::default()).await;
    let mut single = Client::ready(single).await;
    for (method, key) in LISTS {
        let (entries, pages) = walk(&mut whole, method, key).await;
        assert_eq!(pages, 1, "{method}");
        let (same, pages) = walk(&mut single, method, key).await;
        assert_eq!(same, entries, "{method}");
        assert_eq!(pages, entries.len(), "{method}");
        for client in [&mut whole, &mut single] {
            for cursor in [json!("nonsense"), json!(5), json!({})] {
                let error = client.refused(method, json!({"cursor": cursor})).await;
                assert_eq!(error["code"], -32602, "{method} {cursor}");
            }
        }
    }
}

#[tokio::test]
async fn audio_is_offered_where_the_revision_knows_it() {
    for (revision, is_offered) in [("2024-11-05", false), ("2025-03-26", true)] {
        let mut client = Client::start(quick());
        client.initialize(revision).await;
        let (tools, _) = walk(&mut client, "tools/list", "tools").await;
        let lists = tools
            .iter()
            .any(|tool| tool["name"] == "test_audio_content");
        let call = json!({"name": "test_audio_content", "arguments": {}});
        let (_, answer) = client.request("tools/call", call).await;
        let served = answer.get("result").is_some();
        assert_eq!((lists, served), (is_offered, is_offered), "{revision}");
    }
}

#[tokio::test]
async fn profiles_hold_what_they_say() {
    async fn case(profile: Profile, counts: [Option<usize>; 4], capabilities: usize) {
        let mut client = Client::start(offering(profile, &Selection::default(), None));
        let answer = client.initialize("2025-06-18").await;
        let declared = answer["result"]["capabilities"].as_object().unwrap();
        assert_eq!(declared.len(), capabilities, "{}", profile.name());
        for ((method, key), count) in LISTS.into_iter().zip(counts) {
            let Some(count) = count else {
                let error = client.refused(method, json!({})).await;
                assert_eq!(error["code"], -32601, "{} {method}", profile.name());
                continue;
            };
            let (entries, _) = walk(&mut client, method, key).await;
            assert_eq!(entries.len(), count, "{} {method}", profile.name());
        }
    }
    case(Profile::Conformance, [44, 4, 1, 5].map(Some), 5).await;
    case(Profile::Paginated, [44, 4, 1, 5].map(Some), 5).await;
    case(Profile::Minimal, [Some(1), None, None, None], 1).await;
    case(Profile::Empty, [0, 0, 0, 0].map(Some), 5).await;
    let mut client = Client::ready(offering(Profile::Paginated, &Selection::default(), None)).await;
    assert_eq!(walk(&mut client, "tools/list", "tools").await.1, 22);
}

#[tokio::test]
async fn what_is_not_declared_is_not_found() {
    let mut client = Client::ready(offering(Profile::Minimal, &Selection::default(), None)).await;
    for (method, params) in [
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
                "argument": {"name": "arg1", "value": ""}}),
        ),
        ("logging/setLevel", json!({"level": "info"})),
        ("prompts/get", json!({"name": "test_simple_prompt"})),
        ("prompts/get", json!({"name": 5})),
        ("resources/read", json!({"uri": "test://static-text"})),
        ("resources/subscribe", json!({"uri": "test://static-text"})),
        (
            "resources/unsubscribe",
            json!({"uri": "test://static-text"}),
        ),
    ] {
        let error = client.refused(method, params.clone()).await;
        assert_eq!(error["code"], -32601, "{method} {params}");
    }
    client.call("test_simple_text", json!({})).await;
}

#[tokio::test]
async fn what_is_hidden_completes_nothing() {
    let nothing = Selection {
        disable: vec!["*".to_owned()],
        ..Selection::default()
    };
    for options in [
        offering(Profile::Conformance, &nothing, None),
        offering(Profile::Empty, &Selection::default(), None),
    ] {
        let mut client = Client::ready(options).await;
        for (of, argument) in [
            (
                json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"}),
                "arg1",
            ),
            (
                json!({"type": "ref/resource", "uri": "test://template/{id}/data"}),
                "id",
            ),
        ] {
            let params = json!({"ref": of, "argument": {"name": argument, "value": ""}});
            let error = client.refused("completion/complete", params).await;
            assert_eq!(error["code"], -32602, "{of}");
        }
    }
}

#[tokio::test]
async fn a_selection_is_a_part_of_the_profile() {
    let globs = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
    let selection = Selection {
        tools: globs(&["test_s*", "test_tool_*", "test_elicitation", "echo"]),
        resources: globs(&["test://static-*"]),
        prompts: globs(&["*simple*"]),
        disable: globs(&["*_sampling", "*binary"]),
    };
    let mut client = Client::ready(offering(Profile::Conformance, &selection, None)).await;
    let mut names = async |method: &str, list: &str, name: &str| {
        let (entries, _) = walk(&mut client, method, list).await;
        let names = entries
            .iter()
            .map(|entry| entry[name].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let tools = names("tools/list", "tools", "name").await;
    assert_eq!(
        tools,
        [
            "test_simple_text",
            "echo",
            "test_tool_with_progress",
            "test_tool_with_logging",
            "test_elicitation",
            "test_streaming_elicitation",
            "test_tool_with_task",
        ]
    );
    let resources = names("resources/list", "resources", "uri").await;
    assert_eq!(resources, ["test://static-text"]);
    let templates = names("resources/templates/list", "resourceTemplates", "name").await;
    assert_eq!(templates, [""; 0]);
    assert_eq!(
        names("prompts/list", "prompts", "name").await,
        ["test_simple_prompt"]
    );
    let gone = client.refused("tools/call", json!({"name": "slow"})).await;
    assert_eq!(gone["code"], -32602);
    let gone = client
        .refused("resources/read", json!({"uri": "test://static-binary"}))
        .await;
    assert_eq!(gone["code"], -32002);
    let gone = client
        .refused("prompts/get", json!({"name": "test_prompt_with_arguments"}))
        .await;
    assert_eq!(gone["code"], -32602);
    let broken = Selection {
        tools: globs(&["a[", "b"]),
        ..Selection::default()
    };
    assert!(Offer::new(Profile::Conformance, &broken, None, FileTools::Absent).is_err());
}

#[tokio::test]
async fn resources_are_read() {
    let mut client = Client::ready(quick()).await;
    let (_, text) = client
        .request("resources/read", json!({"uri": "test://static-text"}))
        .await;
    let content = &text["result"]["contents"][0];
    assert_eq!(content["mimeType"], "text/plain");
    assert!(
        content["text"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    let (_, blob) = client
        .request("resources/read", json!({"uri": "test://static-binary"}))
        .await;
    assert_eq!(blob["result"]["contents"][0]["blob"], "iVBORw0KGgo=");
    let (_, filled) = client
        .request("resources/read", json!({"uri": "test://template/123/data"}))
        .await;
    assert!(
        filled["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("123")
    );
    let error = client
        .refused("resources/read", json!({"uri": "test://no"}))
        .await;
    assert_eq!(error["code"], -32002);
    assert_eq!(error["data"], json!({"uri": "test://no"}));
}

#[tokio::test]
async fn one_update_follows_each_subscription() {
    let mut client = Client::ready(quick()).await;
    let watched = json!({"uri": "test://watched-resource"});
    for _ in 0..2 {
        let (before, answer) = client.request("resources/subscribe", watched.clone()).await;
        assert_eq!(before, [Value::Null; 0], "the answer comes first");
        assert_eq!(answer["result"], json!({}));
        let update = client.message().await;
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"], watched);
    }
    let (before, answer) = client.request("resources/unsubscribe", watched).await;
    assert_eq!(before, [Value::Null; 0]);
    assert_eq!(answer["result"], json!({}));
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let error = client.refused(method, json!({"uri": "test://no"})).await;
        assert_eq!(error["code"], -32002, "{method}");
    }
}

#[tokio::test]
async fn prompts_and_completion() {
    let mut client = Client::ready(quick()).await;
    let (_, simple) = client
        .request("prompts/get", json!({"name": "test_simple_prompt"}))
        .await;
    assert_eq!(simple["result"]["messages"][0]["role"], "user");
    let (_, shown) = client
        .request(
            "prompts/get",
            json!({"name": "test_prompt_with_arguments",
            "arguments": {"arg1": "one", "arg2": "two"}}),
        )
        .await;
    let text = shown["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains("one") && text.contains("two"), "{text}");
    for params in [
        json!({"name": "no"}),
        json!({"name": "test_prompt_with_arguments"}),
        json!({}),
    ] {
        let error = client.refused("prompts/get", params.clone()).await;
        assert_eq!(error["code"], -32602, "{params}");
    }
    let (_, completed) = client
        .request(
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
                "argument": {"name": "arg2", "value": "cherry j"},
                "context": {"arguments": {"arg1": "cherry"}},
            }),
        )
        .await;
    let completion = &completed["result"]["completion"];
    assert_eq!(completion["values"], json!(["cherry jam", "cherry juice"]));
    assert_eq!(completion["hasMore"], false);
}
