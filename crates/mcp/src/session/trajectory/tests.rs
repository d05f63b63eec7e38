use serde_json::{Value, json};

use super::{TraceOutcome, parse};

fn tools(log: &str) -> Result<Vec<String>, String> {
    parse(log).map(|log| log.calls.into_iter().map(|call| call.tool).collect())
}

#[test]
fn calls_are_found_under_the_names_in_use() {
    let case = |log: &str, wanted: &[&str]| assert_eq!(tools(log).unwrap(), wanted, "{log}");
    case("", &[]);
    case(
        "\n{\"tool\": \"a\"}\r\n\n{\"tool\": \"b\", \"args\": {}}\n",
        &["a", "b"],
    );
    case(r#"{"tool_name": "a", "parameters": {"x": 1}}"#, &["a"]);
    case(r#"{"name": "a", "arguments": {}}"#, &["a"]);
    case(r#"{"name": "pino", "level": 30}"#, &[]);
    case(r#"{"toolName": "a", "args": {}}"#, &["a"]);
    case(r#"{"tool": {"name": "a", "arguments": {}}}"#, &["a"]);
    case(r#"{"tool": {"name": "a"}, "args": {}}"#, &["a"]);
    case(r#"{"tool": null, "msg": "up"}"#, &[]);
    case(r#"{"tool": false, "msg": "up"}"#, &[]);
    case(r#"{"tool": {"name": "a", "inputSchema": {}}}"#, &[]);
    case(r#"{"method": "tools/call", "id": 1, "result": {}}"#, &[]);
    case(r#"{"tool": "a", "say": "\ud83d"}"#, &["a"]);
    let rpc =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}"#;
    case(rpc, &["a"]);
    case(r#"{"tool_name": "a", "source": "portal-replay"}"#, &[]);
    case(r#"{"tool_name": "a", "source": "portal-tryit"}"#, &[]);
    case(r#"{"tool_name": "a", "source": "mcp"}"#, &["a"]);
    case(r#"{"tool_name": "a", "error_category": "auth"}"#, &[]);
    case(r#"{"tool_name": "a", "source": "portal-eu"}"#, &["a"]);
    case(r#"{"tool": "a", "source": "portal-replay"}"#, &["a"]);
    case(r#"{"tool": "a", "error_category": "auth"}"#, &["a"]);
}

#[test]
fn arguments_are_found_under_the_names_in_use() {
    let case = |members: &str, wanted: Value| {
        let log = parse(&format!(r#"{{"tool": "a"{members}}}"#)).unwrap();
        assert_eq!(log.calls[0].args, wanted, "{members}");
    };
    let object = || json!({"q": "x"});
    case("", Value::Null);
    case(r#", "args": null"#, Value::Null);
    case(r#", "args": {"q": "x"}"#, object());
    case(r#", "args": null, "arguments": {"q": "x"}"#, object());
    case(r#", "parameters": {"q": "x"}"#, object());
    case(r#", "args": "{\"q\":\"x\"}""#, object());
    case(r#", "args": "q=x""#, json!("q=x"));
    case(r#", "args": ["x"]"#, json!(["x"]));
}

#[test]
fn texts_of_lines_that_are_no_calls_are_kept() {
    let log = "{\"tool\":\"a\"}\n\n{\"name\":\"b\"}\n{\"at\":[{\"name\":\"b\"},\"c\"]}";
    let passed_over = parse(log).unwrap().passed_over;
    let wanted = [("b".to_owned(), 3), ("c".to_owned(), 4)];
    assert_eq!(passed_over, wanted.into());
}

#[test]
fn what_stands_twice_in_a_call_is_unclear() {
    let case = |log: &str, key: &str| {
        let log = format!("{{\"tool\":\"first\"}}\n{log}");
        let told = tools(&log).unwrap_err();
        let wanted = format!("line 2 tells of a call and has two members `{key}`");
        assert!(told.starts_with(&wanted), "{log}: {told}");
    };
    case(r#"{"tool":"delete","tool":"read"}"#, "tool");
    case(r#"{"tool":null,"tool":"delete","tool":null}"#, "tool");
    case(r#"{"name":"delete","name":5,"arguments":{}}"#, "name");
    case(r#"{"tool":"a","args":{"x":1},"args":{"x":2}}"#, "args");
    case(r#"{"tool":"a","args":{"x":[{"y":1.5,"y":2}]}}"#, "y");
    case(r#"{"tool":"a","ok":false,"ok":true}"#, "ok");
    case(
        r#"{"tool_name":"a","source":"mcp","source":"portal-tryit"}"#,
        "source",
    );
    case(r#"{"of":1,"outcome":"error","outcome":"ok"}"#, "outcome");
    case(r#"{"tool":"a","seq":1,"seq":2,"say":"\ud83d"}"#, "seq");
    let fine = |log: &str, wanted: &[&str]| assert_eq!(tools(log).unwrap(), wanted, "{log}");
    fine(r#"{"name":"pino","name":"child","level":30}"#, &[]);
    fine(r#"{"time":1,"time":2,"msg":"up"}"#, &[]);
    fine(
        r#"{"tool":"a","args":{"x":1.50,"y":{"x":[1,{"x":2}]}}}"#,
        &["a"],
    );
}

#[test]
fn calls_are_in_the_order_they_were_made() {
    let newest_first = concat!(
        r#"{"tool_name": "b", "timestamp": "2026-01-01T00:00:02Z"}"#,
        "\n",
        r#"{"tool_name": "a", "timestamp": "2026-01-01T02:00:01+02:00"}"#,
    );
    let calls = parse(newest_first).unwrap().calls;
    assert_eq!(calls[0].tool, "a");
    assert_eq!(calls[1].at_ms, Some(1_000));
    let mixed = "{\"tool\": \"a\", \"seq\": 1}\n{\"tool\": \"b\"}\n{\"tool\": \"c\", \"seq\": 2}";
    assert_eq!(tools(mixed).unwrap(), ["a", "b", "c"]);
    let unsortable =
        "{\"tool\": \"a\", \"seq\": 2}\n{\"tool\": \"b\"}\n{\"tool\": \"c\", \"seq\": 1}";
    assert_eq!(
        tools(unsortable),
        Err("the calls cannot be put in order: only some of them have `seq`".to_owned())
    );
}

#[test]
fn a_journal_tells_outcomes_and_what_it_hides() {
    let journal = concat!(
        r#"{"seq":1,"dt_us":0,"kind":"header"}"#,
        "\n",
        r#"{"seq":2,"dt_us":1000,"kind":"call","tool":"a","args":{"key":"x"},"redacted":["/args/key"]}"#,
        "\n",
        r#"{"seq":3,"dt_us":2000,"kind":"done","of":2,"tool":"ignored","ok":false}"#,
        "\n",
        r#"{"seq":4,"dt_us":5000,"kind":"call","tool":"b","args":{"list":["[redacted]"]}}"#,
        "\n",
        r#"{"seq":5,"dt_us":6000,"kind":"done","of":4,"ok":true,"is_error":false}"#,
        "\n",
        r#"{"seq":6,"dt_us":7000,"kind":"end","counts":{"header":1,"call":2,"done":2}}"#,
    );
    let calls = parse(journal).unwrap().calls;
    let told: Vec<_> = calls
        .iter()
        .map(|call| (call.outcome, call.at_ms, call.unknowable.join(",")))
        .collect();
    assert_eq!(
        told,
        [
            (Some(TraceOutcome::Error), Some(0), "/key".to_owned()),
            (Some(TraceOutcome::Ok), Some(4), "/list/0".to_owned()),
        ]
    );
    assert_eq!(calls[0].args, json!({"key": "x"}));
}

#[test]
fn a_line_says_how_its_call_ended_in_many_ways() {
    use TraceOutcome::{Error, Ok};
    let case = |members: &str, wanted: Option<TraceOutcome>| {
        let calls = parse(&format!(r#"{{"tool":"a",{members}}}"#))
            .unwrap()
            .calls;
        assert_eq!(calls[0].outcome, wanted, "{members}");
    };
    case(r#""outcome":"ok""#, Some(Ok));
    case(r#""outcome":"error""#, Some(Error));
    case(r#""outcome":"blue""#, None);
    for nothing in [r#""""#, "false", "null"] {
        case(&format!(r#""success":true,"error":{nothing}"#), Some(Ok));
        case(&format!(r#""ok":false,"error":{nothing}"#), Some(Error));
    }
    case(r#""error":"""#, None);
    case(r#""error":null"#, None);
    case(r#""error":false"#, Some(Ok));
    case(r#""error":true"#, Some(Error));
    case(r#""error":{"code":1},"ok":true"#, Some(Error));
    case(r#""isError":false"#, Some(Ok));
    case(r#""isError":true"#, Some(Error));
    case(r#""is_error":false,"success":false"#, Some(Error));
}

#[test]
fn lines_may_have_the_keys_of_trace() {
    let log = "{\"tool\":\"b\",\"at_ms\":250}\n{\"tool\":\"a\",\"at_ms\":50,\"outcome\":\"ok\"}";
    let calls = parse(log).unwrap().calls;
    assert_eq!((calls[0].tool.as_str(), calls[0].at_ms), ("a", Some(0)));
    assert_eq!((calls[1].tool.as_str(), calls[1].at_ms), ("b", Some(200)));
}

#[test]
fn journals_may_follow_each_other() {
    let one = concat!(
        r#"{"seq":1,"kind":"header"}"#,
        "\n",
        r#"{"seq":2,"kind":"call","tool":"a"}"#,
        "\n",
        r#"{"seq":3,"kind":"end","counts":{"header":1,"call":1}}"#,
        "\n",
    );
    let two = one.replace("\"a\"", "\"b\"");
    assert_eq!(tools(&format!("{one}{two}")).unwrap(), ["a", "b"]);
    let foreign = "{\"tool\":\"c\"}\n";
    let mixed = format!("{foreign}{one}{foreign}{two}{foreign}");
    assert_eq!(tools(&mixed).unwrap(), ["c", "a", "c", "b", "c"]);
}

#[test]
fn a_journal_that_is_cut_is_told_from_a_log_of_others() {
    let lines = [
        r#"{"seq":1,"ts":"1970-01-01T00:00:00.000Z","dt_us":0,"kind":"header"}"#,
        r#"{"seq":2,"ts":"1970-01-01T00:00:00.000Z","dt_us":0,"kind":"call","tool":"a"}"#,
        r#"{"seq":3,"ts":"1970-01-01T00:00:00.000Z","dt_us":0,"kind":"done","of":2,"ok":true}"#,
        r#"{"seq":4,"ts":"1970-01-01T00:00:00.000Z","dt_us":0,"kind":"end","counts":{"header":1,"call":1,"done":1}}"#,
    ];
    assert_eq!(tools(&lines.join("\n")).unwrap(), ["a"]);
    for kept in 1..lines.len() {
        let last = kept as u64;
        let cut = tools(&lines[..kept].join("\n"));
        let endless = format!("the journal is cut: its `end` is missing after record {last};");
        let ends =
            |log: Result<_, String>| assert!(log.unwrap_err().starts_with(&endless), "{kept}");
        ends(cut);
        let whole = lines.join("\n");
        let first_of_two = tools(&format!("{}\n{whole}", lines[..kept].join("\n")));
        ends(first_of_two);
        let cut = tools(&lines[kept..].join("\n"));
        let first = last + 1;
        let headless = format!("its beginning is missing, it starts with record {first}");
        assert!(cut.unwrap_err().ends_with(&headless), "all but {kept}");
    }
    let fewer = lines.join("\n").replace("\"done\":1", "\"done\":2");
    let told = tools(&fewer).unwrap_err();
    assert!(
        told.contains("records of kind `done` and says there were 2"),
        "{told}"
    );
    let foreign = r#"{"seq":7,"kind":"call","tool":"a"}"#;
    assert_eq!(tools(foreign).unwrap(), ["a"]);
}

#[test]
fn what_is_missing_is_said() {
    let case = |log: &str, wanted: &str| {
        assert_eq!(parse(log).unwrap_err(), wanted);
    };
    case("{\"tool\": \"a\"}\nnot json", "line 2 is not a JSON object");
    case("[1]", "line 1 is not a JSON object");
    let unreadable = |record: &str, reason: &str| {
        let log = format!("{{\"tool\": \"a\"}}\n{record}");
        let wanted = format!("line 2 tells of a call and not of which tool: {reason}");
        case(&log, &wanted);
    };
    unreadable(r#"{"tool": 3}"#, "what stands for its tool is not a text");
    unreadable(
        r#"{"tool": {"name": "a"}}"#,
        "its tool is an object, and there are no arguments",
    );
    unreadable(
        r#"{"tool": {"id": 3}}"#,
        "its tool is an object without a `name`",
    );
    unreadable(
        r#"{"method": "tools/call"}"#,
        "a `tools/call` without `params.name`",
    );
    let header = r#"{"seq":1,"kind":"header"}"#;
    case(
        &format!("{header}\n{{\"seq\":3,\"kind\":\"call\",\"tool\":\"a\"}}"),
        "records are missing: after number 1 comes 3",
    );
    case(
        &format!("{header}\n{{\"seq\":2,\"kind\":\"end\",\"counts\":{{\"call\":3}}}}"),
        "the journal holds 0 records of kind `call` and says there were 3",
    );
    case(
        header,
        "the journal is cut: its `end` is missing after record 1; a server that is killed, or still runs, leaves none",
    );
}
