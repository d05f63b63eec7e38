//! The server of a command line as a suite writes it, without its secrets.

use serde_json::Value;

use super::stub::quoted;
use suite::plan::ServerOverride;
use text::credential::SecretKeys;

/// The server as a YAML flow mapping, and the environment variables that take the place of secrets in it: values behind
/// `--token` and its like, and the values of all headers.
pub(crate) fn server(
    typed: &str,
    mut image: Option<&str>,
    headers: &[String],
) -> (String, Vec<String>) {
    let mut needed = Vec::new();
    let mut members = match ServerOverride::from_text(typed) {
        Ok(ServerOverride::Url(url)) => {
            image = None;
            let mut members = vec!["transport: http".to_owned()];
            members.push(format!("url: {}", quoted(&url)));
            let headers = headers.iter().filter_map(|header| header.split_once(':'));
            let headers = headers.map(|(name, value)| {
                let value = of_header(name.trim(), value.trim(), &mut needed);
                format!("{}: {}", quoted(name.trim()), quoted(&value))
            });
            let headers: Vec<String> = headers.collect();
            if !headers.is_empty() {
                members.push(format!("headers: {{{}}}", headers.join(", ")));
            }
            members
        }
        Ok(ServerOverride::Command { program, args }) => {
            let args = Value::from(without_secrets(&args, &mut needed));
            vec![
                format!("command: {}", quoted(&program)),
                format!("args: {args}"),
            ]
        }
        // An image alone starts its own command.
        Err(_) => Vec::new(),
    };
    members.extend(image.map(|image| format!("docker: {}", quoted(image))));
    needed.dedup();
    (format!("{{{}}}", members.join(", ")), needed)
}

fn of_header(name: &str, value: &str, needed: &mut Vec<String>) -> String {
    let variable = variable(name);
    let text = match value.split_once(' ') {
        Some((scheme @ ("Bearer" | "Basic" | "Token"), _)) => format!("{scheme} ${{{variable}}}"),
        Some(_) | None => format!("${{{variable}}}"),
    };
    needed.push(variable);
    text
}

/// The arguments with variables in the place of values that options with telling names have: `--api-key X`,
/// `--api-key=X`, and `API_KEY=X` as `env` and `docker -e` take it.
fn without_secrets(args: &[String], needed: &mut Vec<String>) -> Vec<String> {
    let keys = SecretKeys::default();
    let mut behind: Option<String> = None;
    let mut out = Vec::new();
    for arg in args {
        let key = |name: &str| keys.holds(&name.trim_start_matches('-').to_lowercase());
        let hidden = |name: &str, needed: &mut Vec<String>| {
            let variable = variable(name);
            needed.push(variable.clone());
            format!("{{{{env.{variable}}}}}")
        };
        if let Some(name) = behind.take().filter(|_| !arg.starts_with('-')) {
            out.push(hidden(&name, needed));
            continue;
        }
        match arg.split_once('=') {
            Some((name, value)) if key(name) && !value.is_empty() => {
                out.push(format!("{name}={}", hidden(name, needed)));
            }
            Some(_) | None => {
                behind = (arg.starts_with('-') && key(arg)).then(|| arg.clone());
                out.push(arg.clone());
            }
        }
    }
    out
}

/// The name of an environment variable for an option or a header.
fn variable(name: &str) -> String {
    let name = name.trim_start_matches('-').to_ascii_uppercase();
    name.replace(|it: char| !it.is_ascii_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::server;

    #[test]
    fn secrets_are_read_from_the_environment() {
        for (typed, headers, wanted, needed) in [
            (
                "npx -y x",
                &[][..],
                r#"{command: "npx", args: ["-y","x"]}"#,
                &[][..],
            ),
            (
                "x --api-key s3cret --token=abc --max-tokens 5",
                &[],
                r#"{command: "x", args: ["--api-key","{{env.API_KEY}}","--token={{env.TOKEN}}","--max-tokens","5"]}"#,
                &["API_KEY", "TOKEN"],
            ),
            (
                "env GITHUB_TOKEN=abc x",
                &[],
                r#"{command: "env", args: ["GITHUB_TOKEN={{env.GITHUB_TOKEN}}","x"]}"#,
                &["GITHUB_TOKEN"],
            ),
            (
                "https://a.example/mcp",
                &["Authorization: Bearer abc"],
                r#"{transport: http, url: "https://a.example/mcp", headers: {"Authorization": "Bearer ${AUTHORIZATION}"}}"#,
                &["AUTHORIZATION"],
            ),
        ] {
            let headers: Vec<String> = headers.iter().map(|it: &&str| (*it).to_owned()).collect();
            let (text, variables) = server(typed, None, &headers);
            assert_eq!(text, wanted);
            assert_eq!(variables, needed);
        }
    }

    #[test]
    fn an_image_stays_with_its_server() {
        let of = |typed: &str| server(typed, Some("node:22"), &[]).0;
        let wanted = r#"{command: "node", args: ["a.js"], docker: "node:22"}"#;
        assert_eq!(of("node a.js"), wanted);
        assert_eq!(of(""), r#"{docker: "node:22"}"#);
    }
}
