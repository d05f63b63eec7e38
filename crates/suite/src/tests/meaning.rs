//! What documents mean once they are lowered.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use proptest::prelude::{any, proptest};
use serde_json::json;

use super::Sample;
use crate::model::{
    Assertion, Body,
    container::ImageBase,
    expectation::{Expectation, FilesWanted, JsonWanted, TextWanted, ValueRule, WantedState},
    server::{EnvPart, Inherit, Target},
};
use crate::settings::Effect;
use mcp::script::{
    client::{ElicitationReplies, SamplingReply},
    subject::{OnToolError, PromptsCall, ResourcesAction, Subject},
    template::Bindings,
};

/// The assertion of a document on a plain server.
fn one(text: &str) -> Arc<Assertion> {
    let sample = Sample::one(&format!("server: {{command: s}}\n{text}"));
    let mut assertions = sample.assertions();
    assert_eq!(assertions.len(), 1);
    assertions.remove(0)
}

/// What the assertion of a document on a plain server does and wants.
fn body(text: &str) -> Arc<Body> {
    Arc::clone(&one(text).body)
}

/// The keys of its expectations, in their order.
fn keys(text: &str) -> Vec<&'static str> {
    body(text).wanted.iter().map(|wanted| wanted.key).collect()
}

#[test]
fn nothing_expected_is_no_error_expected() {
    let case = |text: &str, expected: &[&str]| assert_eq!(keys(text), expected, "{text}");
    case("assert: {tool: x}", &["not_error"]);
    case("assert: {tool: x, expect: {}}", &["not_error"]);
    case("assert: {tool: x, expect: }", &["not_error"]);
    case(
        "assert: {tool: x, expect: {contains: a, not_error: true}}",
        &["contains", "not_error"],
    );
    case("assert_tools: {}", &["not_error"]);
    case(
        "assert_sampling: {tool: x}",
        &["not_error", "server_requests"],
    );
    case(
        "assert_logging: {tool: x, expect: {min_messages: 1, contains_level: info}}",
        &["min_messages", "contains_level"],
    );
    case(
        "assert_resources: {subscribe: a, expect_notification: false}",
        &["not_error", "expect_notification"],
    );
}

#[test]
fn the_go_tools_rules_come_back_on_request() {
    let text = "server: {command: s}\nsetup: [{tool: a}]\nassert: {tool: x, args: {t: '{{user}}'}, expect: {is_error: false, unknown: 1, json_path: {$.a: {exists: true}}, net_delta: 1}}\nassert_prompts: {list: {}, get: {name: x}}\ntimeout: 30\n";
    let assertions = Sample::one(text).compat().assertions();
    let body = &assertions[0].body;
    assert!(matches!(
        body.subject,
        Subject::Prompts(PromptsCall::List(_))
    ));
    assert_eq!(body.wanted.len(), 0);
    assert_eq!(assertions[0].control, None);
    assert_eq!(body.setup[0].on_tool_error, OnToolError::PassOver);
    let text =
        "server: {command: s}\nassert: {tool: x, expect: {json_path: {$.a: {exists: true}}}}\n";
    let assertions = Sample::one(text).compat().assertions();
    let WantedState::Ready(expectation) = &assertions[0].body.wanted[0].state else {
        panic!("ready");
    };
    let Expectation::Json(JsonWanted::JsonPath(rules)) = expectation else {
        panic!("paths");
    };
    assert!(matches!(rules[0].rule, ValueRule::Loosely(_)));
}

#[test]
fn expectations_with_markers_are_lowered_when_their_names_have_values() {
    let assertion = one(
        "setup: [{tool: a, capture: {id: $.id, text: $}}]\nassert: {tool: x, expect: {contains: ['id {{id}}', '{{text}}'], json_path: {'$.{{text}}': '{{id!}}'}, file_contains: {'{{fixture}}/a': '{{{{x}}'}}}",
    );
    assert!(assertion.uses_fixture);
    let body = &assertion.body;
    let bindings = Bindings {
        fixture: Some("/f".into()),
        captured: BTreeMap::from([("id".into(), json!(7)), ("text".into(), json!("k{{id}}"))]),
        ..Bindings::default()
    };
    let resolved: Vec<String> = body
        .wanted
        .iter()
        .map(|wanted| match wanted.bind(&bindings).as_deref() {
            Ok(Expectation::Text(TextWanted::Contains(texts))) => texts.join(" | "),
            Ok(Expectation::Json(JsonWanted::JsonPath(rules))) => {
                let ValueRule::Equals(value) = &rules[0].rule else {
                    panic!("an equality");
                };
                format!("{} = {value}", rules[0].written)
            }
            Ok(Expectation::Files(FilesWanted::Contain(files))) => {
                format!("{} {}", files[0].path, files[0].texts[0])
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        resolved,
        ["id 7 | k{{id}}", "$['k{{id}}'] = 7", "/f/a {{x}}"]
    );
    let unbound = body.wanted[0].bind(&Bindings::default());
    assert_eq!(
        unbound.map(|_| ()).unwrap_err().to_string(),
        "`{{id}}` has no value here"
    );
}

#[test]
fn what_has_no_markers_is_as_it_was_written_beside_those_that_have() {
    let body = body(
        "setup: [{tool: a, capture: {x: $}}]\nassert: {tool: x, expect: {contains: [0644, 1e5, 0x1F, 0o17, .5, 1., True, '{{x}}'], file_equals: {'{{fixture}}/m': 0644}, not: {is_error: yes, contains: '{{x}}'}}}",
    );
    let bindings = Bindings {
        fixture: Some("/f".into()),
        captured: BTreeMap::from([("x".into(), json!("z"))]),
        ..Bindings::default()
    };
    let resolved = |index: usize| {
        let found = body.wanted[index].bind(&bindings);
        format!("{:?}", found.as_deref())
    };
    assert_eq!(
        resolved(0),
        r#"Ok(Text(Contains(["0644", "1e5", "0x1F", "0o17", ".5", "1.", "True", "z"])))"#
    );
    assert_eq!(
        resolved(1),
        r#"Ok(Files(Equal([FileTexts { path: "/f/m", texts: ["0644"] }])))"#
    );
    assert_eq!(
        resolved(2),
        r#"Ok(Not([("is_error", Answer(IsError(true))), ("contains", Text(Contains(["z"])))]))"#
    );
}

#[test]
fn numbers_keep_their_value_and_dates_stay_as_they_are_written() {
    let body = body(
        "assert: {tool: x, args: {d: 2024-01-01, f: 1.0, e: [1e6], big: 340282366920938463463374607431768211456, hex: 0x10, on: yes, map: {1: a}}, expect: {contains: [42, true, 1.50]}}",
    );
    let Subject::Tool(call) = &body.subject else {
        panic!("a tool");
    };
    assert_eq!(
        call.args.value.to_string(),
        r#"{"d":"2024-01-01","f":1,"e":[1000000],"big":340282366920938463463374607431768211456,"hex":16,"on":"yes","map":{"1":"a"}}"#
    );
    let WantedState::Ready(expectation) = &body.wanted[0].state else {
        panic!("ready");
    };
    assert!(
        matches!(expectation, Expectation::Text(TextWanted::Contains(texts)) if texts == &["42", "true", "1.50"])
    );
}

#[test]
fn anchors_and_merge_keys_work() {
    let body = body(
        "setup:\n  - &s {tool: a, args: {x: 1}}\n  - <<: *s\n    tool: b\nassert: {tool: x}\n",
    );
    assert_eq!(body.setup.len(), 2);
    for (key, merged) in [("!!str <<", r#"{"<<":{"a":1}}"#), ("! <<", r#"{"a":1}"#)] {
        let body = self::body(&format!("assert: {{tool: x, args: {{{key}: {{a: 1}}}}}}\n"));
        let Subject::Tool(call) = &body.subject else {
            panic!("a call");
        };
        assert_eq!(call.args.value.to_string(), merged, "{key}");
    }
}

#[test]
fn a_wait_is_as_long_as_the_suite_says() {
    let within = |text: &str| body(text).subject.within();
    let two = Some(Duration::from_secs(2));
    assert_eq!(
        within("assert_notifications: {tool: x, within: 2s, expect: {min_count: 1}}"),
        two
    );
    assert_eq!(within("assert_logging: {tool: x, within: 2s}"), two);
    assert_eq!(within("assert_resources: {read: 'a://b', within: 2s}"), two);
    assert_eq!(within("assert_notifications: {tool: x}"), None);
    assert_eq!(within("assert: {tool: x}"), None);
}

#[test]
fn client_capabilities_have_all_their_forms() {
    let client = |text: &str| {
        let text = format!("client_capabilities: {text}");
        one(&format!("client: {{{text}}}\nassert: {{tool: x}}"))
            .client
            .as_ref()
            .clone()
    };
    assert!(matches!(
        &client("{sampling: [{text: a}, {reject: {code: 5, message: no}}]}")
            .sampling
            .unwrap()[..],
        [
            SamplingReply::Message { .. },
            SamplingReply::Reject { code: 5, .. }
        ]
    ));
    assert!(
        matches!(client("{elicitation: {action: decline}}").elicitation, Some(ElicitationReplies::InOrder(list)) if list.len() == 1)
    );
    assert!(
        matches!(client("{elicitation: {name: x, age: 3}}").elicitation, Some(ElicitationReplies::InOrder(list)) if list[0].content.as_ref().unwrap().value == json!({"name": "x", "age": 3}))
    );
    assert!(
        matches!(client("{elicitation: {by_message: {'na.e': {content: {a: 1}}}}}").elicitation, Some(ElicitationReplies::ByMessage(list)) if list.len() == 1)
    );
    assert_eq!(
        client("{roots: ['{{fixture}}', /a]}").roots.unwrap().len(),
        2
    );
}

#[test]
fn servers_of_all_transports_load() {
    let target = |server: &str| {
        let sample = Sample::one(&format!("server: {server}\nassert: {{tool: x}}"));
        let shown = sample.shown();
        assert!(!shown.contains("error["), "{shown}");
        sample.assertions()[0].server.target.clone()
    };
    assert!(
        matches!(target("{builtin: conformance, args: [--x]}"), Target::Builtin { profile, args, .. } if profile == "conformance" && args.len() == 1)
    );
    assert!(
        matches!(target("{transport: HTTP, url: 'http://x', headers: {Authorization: 'Bearer ${T:-x}'}}"), Target::Url { endpoint, .. } if endpoint.headers[0].1.parts.len() == 2)
    );
    assert!(
        matches!(target("{transport: sse, url: 'http://x', auth: {bearer: x}}"), Target::Url { endpoint, .. } if endpoint.auth.is_some())
    );
    assert!(matches!(
        target(
            "{transport: http, launch: {command: s, args: ['{{port}}'], ready: {log: up}, timeout: 5s}}"
        ),
        Target::Url {
            listening: Some(_),
            ..
        }
    ));
    assert!(matches!(
        target("{docker: 'img:1', command: s}"),
        Target::Container { .. }
    ));
    assert!(
        matches!(target("{docker: {image: i, network: bridge, pids: 5, memory: 1g}, command: s}"), Target::Container { container, .. } if container.network.as_deref() == Some("bridge") && container.pids == Some(5) && container.memory == Some(1 << 30))
    );
    assert!(
        matches!(target("{command: s, env: {A: 'x$$y', B: }, inherit_env: [PATH]}"), Target::Process(launch) if matches!(&launch.env[0].1.parts[0], EnvPart::Text(text) if text.text == "x$"))
    );
}

#[test]
fn the_process_behind_a_url_is_the_one_that_its_block_describes() {
    let suite = "server: {transport: http, env: {A: a, B: b}, inherit_env: [PATH], docker: {image: i, pids: 5}, \
                 launch: {command: s, env: {B: c}}}\nassert: {tool: x}\n";
    let sample = Sample::one(suite);
    let Target::Container {
        container,
        program,
        served: Some(_),
    } = &sample.assertions()[0].server.target
    else {
        panic!("it has no url");
    };
    let launch = program.launch();
    let names: Vec<&str> = launch.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    assert!(matches!(&launch.env[1].1.parts[0], EnvPart::Text(text) if text.text == "c"));
    assert_eq!(launch.inherit, Inherit::Only(vec!["PATH".into()]));
    assert_eq!(container.pids, Some(5));
    let shown =
        |server: &str| Sample::one(&format!("server: {server}\nassert: {{tool: x}}")).shown();
    let wrong = shown("{transport: http, docker: {image: i, memory: lots}, launch: {command: s}}");
    assert!(wrong.contains("error[bad-number]"), "{wrong}");
    for right in [
        "{transport: http, docker: {pids: 5}, builtin: minimal}",
        "{transport: http, docker: {pids: 5}, url: 'http://x'}",
    ] {
        assert!(!shown(right).contains("error["), "{}", shown(right));
    }
}

#[test]
fn containers_of_the_settings_are_joined_key_by_key() {
    let settings = "docker: {memory: 1g}\ndefaults:\n  server: {command: base, docker: {image: one, pids: 5}}\n";
    let seen = |server: &str| {
        let suite = format!("server: {server}\nassert: {{tool: t}}\n");
        let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", &suite)]);
        let assertions = sample.assertions();
        let Target::Container {
            container, program, ..
        } = &assertions[0].server.target
        else {
            panic!("{server}: it is no container");
        };
        let command = program.launch().command.clone().map(|word| word.text);
        (container.clone(), command.unwrap_or_default())
    };
    let (container, command) = seen("{command: own}");
    assert_eq!((container.pids, command.as_str()), (Some(5), "own"));
    assert_eq!(container.memory, Some(1 << 30));
    let (container, command) = seen("{docker: {memory: 64m}}");
    assert_eq!(
        (container.memory, command.as_str()),
        (Some(64 << 20), "base")
    );
    assert_eq!(container.image, Some(ImageBase::Named("one".into())));
    let (container, _) = seen("{docker: two}");
    assert_eq!(container.image, Some(ImageBase::Named("two".into())));
    assert_eq!(container.pids, Some(5));
}

#[test]
fn lists_need_no_value() {
    assert!(
        matches!(&body("assert_resources: {list: }").subject, Subject::Resources(call) if matches!(call.action, Some(ResourcesAction::List(_))))
    );
    assert!(matches!(
        &body("assert_prompts: {list: true}").subject,
        Subject::Prompts(PromptsCall::List(_))
    ));
}

#[test]
fn a_key_without_value_is_absent_beside_another_one() {
    let case = |text: &str, key: &str, wanted: &str| {
        let text = format!("server: {{command: s}}\n{text}");
        for sample in [Sample::one(&text), Sample::one(&text).compat()] {
            let shown = sample.shown();
            let warning = format!("warning[empty-value]: `{key}` has no value and does nothing");
            assert!(shown.starts_with(&warning), "{text}: {shown}");
            assert_eq!(shown.matches("[empty-value]").count(), 1, "{shown}");
            let subject = format!("{:?}", sample.assertions()[0].body.subject);
            assert!(subject.contains(wanted), "{text}: {subject}");
        }
    };
    case("assert_resources: {list: , read: 'a:b'}", "list", "Read(");
    case("assert_resources: {list: {}, read: ''}", "read", "List(");
    case(
        "assert_resources: {list: , templates: {}}",
        "list",
        "Templates(",
    );
    case("assert_prompts: {list: , get: {name: x}}", "list", "Get {");
}

#[test]
fn the_embedded_server_has_an_image_of_its_own() {
    let case = |docker: &str| {
        let text = format!("server: {{builtin: minimal, docker: {docker}}}\nassert: {{tool: x}}\n");
        Sample::one(&text).shown()
    };
    for docker in ["{}", "self", "{image: self, memory: 1g}"] {
        assert_eq!(case(docker), "", "{docker}");
    }
    for docker in ["other", "{memory: 1g, image: other}", "{build: .}"] {
        let shown = case(docker);
        assert!(
            shown.contains("error[conflicting-keys]"),
            "{docker}: {shown}"
        );
    }
    insta::assert_snapshot!(case("{memory: 1g, image: other}"));
    // What the settings say of servers that are started otherwise is not meant for it.
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "defaults: {server: {command: s, docker: {image: i, user: u}}}\ntargets: {own: {builtin: minimal}}\n",
        ),
        ("a.yaml", "server: {builtin: minimal}\nassert: {tool: x}\n"),
    ]);
    assert_eq!(sample.shown(), "");
    let Target::Container { container, .. } = &sample.assertions()[0].server.target else {
        panic!("a container");
    };
    assert_eq!(container.image, Some(ImageBase::Own));
    assert_eq!(container.user.as_deref(), Some("u"));
}

#[test]
fn lines_of_an_env_file_that_name_no_variable_are_told() {
    let sample = Sample::new(&[
        (
            "a.yaml",
            "server: {command: s, docker: {image: i, env_file: env.list}}\nassert: {tool: x}\n",
        ),
        (
            "env.list",
            "A=1\n# c\n\nexport B=2\n C = 3\n=4\nD E\nF=a b\n",
        ),
    ]);
    insta::assert_snapshot!(sample.shown());
}

#[test]
fn a_name_alone_in_an_env_file_that_has_no_value_is_told_and_left_out() {
    let sample = Sample::new(&[
        (
            "a.yaml",
            "server: {command: s, docker: {image: i, env_file: env.list}}\nassert: {tool: x}\n",
        ),
        ("env.list", "A=\nUNSET\n"),
    ]);
    insta::assert_snapshot!(sample.shown());
    let Target::Container { container, .. } = &sample.assertions()[0].server.target else {
        panic!("a container");
    };
    assert_eq!(container.env_file, [("A".to_owned(), String::new())]);
}

#[test]
fn a_variable_that_the_lines_of_prepare_lack_is_told() {
    let text = "server: {command: s, docker: {image: i, prepare: {run: [x], env: [A, TOKEN]}}}\nassert: {tool: x}\n";
    let sample = || Sample::one(text).with_variable("A", "");
    insta::assert_snapshot!(sample().shown(), @r"
    warning[unset-variable]: the environment variable `TOKEN` is not set, and the image is prepared without it
     --> a.yaml:1:70
      |
    1 | server: {command: s, docker: {image: i, prepare: {run: [x], env: [A, TOKEN]}}}
      |                                                                      ^^^^^
      |
      = help: set it, or take `TOKEN` out of the list
    ");
    let strict = sample().strict_env().shown();
    assert!(strict.starts_with("error[unset-variable]: "), "{strict}");
    let skipped = format!("skip: true\n{text}");
    assert_eq!(Sample::one(&skipped).shown(), "");
    let both = sample().with_variable("TOKEN", "t").strict_env();
    assert_eq!(both.shown(), "");
}

#[test]
fn a_server_in_a_container_inherits_nothing() {
    let case = |inherit: &str, wanted: bool| {
        let server = format!("{{command: s, docker: i, inherit_env: {inherit}}}");
        let shown = Sample::one(&format!("server: {server}\nassert: {{tool: x}}\n")).shown();
        let told = shown.contains("warning[no-effect]: `inherit_env` does nothing");
        assert_eq!(told, wanted, "{shown}");
    };
    case("true", true);
    case("[TOKEN]", true);
    case("false", false);
    case("[]", false);
    for server in ["command: s", "builtin: minimal", "command: s, docker: ''"] {
        let text = format!("server: {{{server}, inherit_env: [TOKEN]}}\nassert: {{tool: x}}\n");
        let told = |sample: Sample| sample.shown().contains("`inherit_env` does nothing");
        assert!(told(Sample::one(&text).in_containers()), "{server}");
        assert!(!told(Sample::one(&text)), "{server}");
    }
    let settings = "defaults: {server: {inherit_env: [TOKEN]}}\n";
    let suite = "server: {command: s, docker: i}\nassert: {tool: x}\n";
    let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", suite)]);
    assert_eq!(sample.shown(), "");
}

#[test]
fn an_empty_docker_is_none() {
    let sample = Sample::one("server: {command: s, docker: ''}\nassert: {tool: x}\n");
    insta::assert_snapshot!(sample.shown(), @r"
    warning[empty-value]: `docker` has no value and does nothing
     --> a.yaml:1:22
      |
    1 | server: {command: s, docker: ''}
      |                      ^^^^^^
      |
      = help: give it a value, or remove it
    ");
    let target = &sample.assertions()[0].server.target;
    assert!(matches!(target, Target::Process(_)), "{target:?}");
    let url = "server: {transport: http, url: 'http://x', docker: ' '}\nassert: {tool: x}\n";
    let shown = Sample::one(url).shown();
    assert_eq!(shown.matches("warning[").count(), 1, "{shown}");
    assert!(shown.contains("`docker` has no value"), "{shown}");
    // The settings' one holds as it does where there is none.
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "defaults: {server: {docker: {image: i, user: u}}}\n",
        ),
        (
            "a.yaml",
            "server: {command: s, docker: ''}\nassert: {tool: x}\n",
        ),
    ]);
    assert_eq!(sample.shown(), "");
    let assertions = sample.assertions();
    let Target::Container { container, .. } = &assertions[0].server.target else {
        panic!("a container");
    };
    assert_eq!(container.image, Some(ImageBase::Named("i".into())));
}

#[test]
fn an_empty_text_of_a_container_does_nothing() {
    for key in ["user", "platform", "network", "log_driver"] {
        let text = format!(
            "server: {{command: s, docker: {{image: i, {key}: ''}}}}\nassert: {{tool: x}}\n"
        );
        let sample = Sample::one(&text);
        let shown = sample.shown();
        let warning = format!("warning[empty-value]: `{key}` has no value and does nothing");
        assert!(shown.starts_with(&warning), "{key}: {shown}");
        assert_eq!(shown.matches("a.yaml:").count(), 1, "{key}: {shown}");
        let Target::Container { container, .. } = &sample.assertions()[0].server.target else {
            panic!("a container");
        };
        let empty = Sample::one("server: {command: s, docker: i}\nassert: {tool: x}\n");
        let Target::Container {
            container: plain, ..
        } = &empty.assertions()[0].server.target
        else {
            panic!("a container");
        };
        assert_eq!(container, plain, "{key}");
    }
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_loads_or_is_told(text in any::<String>(), near in "(assert|tool|expect|name|[:,&*!|>{}\\[\\]'\"%@`#-]|\n|  | ){0,40}") {
        for text in [text, near] {
            let sample = Sample::one(&text);
            let _ = sample.shown();
        }
    }
}

#[test]
fn the_closest_pattern_says_what_calls_may_do() {
    let effects =
        "{'*': likely, 'get_*': read, '*_all': destructive, get_it: write, 'get_it*': read}";
    let settings = format!("targets: {{t: {{command: s, effects: {effects}}}}}\n");
    let sample = Sample::new(&[("mcp-assert.yaml", &settings)]);
    let said = &sample.load().settings.targets[0].effects;
    for (tool, wanted) in [
        ("put", "likely"),
        ("get_one", "read"),
        ("get_all", "destructive"),
        ("get_it", "write"),
        ("get_item", "read"),
    ] {
        assert_eq!(said.of(tool).map(Effect::word), Some(wanted), "{tool}");
    }
}

#[test]
fn effects_are_words_of_targets() {
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "targets:\n  a: {command: s, effects: {get: raed, '[': read}}\n  b: {command: s, effects: read}\n",
        ),
        (
            "a.yaml",
            "server: {command: s, effects: {get: read}}\nassert: {tool: x}\n",
        ),
    ]);
    insta::assert_snapshot!(sample.shown(), @r"
error[unknown-word]: unknown effect `raed`
 --> mcp-assert.yaml:2:34
  |
2 |   a: {command: s, effects: {get: raed, '[': read}}
  |                                  ^^^^
  |
  = help: did you mean `read`?

error[bad-glob]: invalid glob `[`: unclosed character class; missing ']'
 --> mcp-assert.yaml:2:40
  |
2 |   a: {command: s, effects: {get: raed, '[': read}}
  |                                        ^^^

error[wrong-type]: expected a map, found the text `read`
 --> mcp-assert.yaml:3:28
  |
3 |   b: {command: s, effects: read}
  |                            ^^^^ this is the text `read`

warning[no-effect]: `effects` does nothing: only a target of the settings takes it
 --> a.yaml:1:22
  |
1 | server: {command: s, effects: {get: read}}
  |                      ^^^^^^^
");
}
