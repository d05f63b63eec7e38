//! The proxy between us and GitHub, as the environment names it: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
//! `NO_PROXY`, in capitals or not, which self-hosted runners hand to their steps. Nothing is connected here.

use http::Uri;
use hyper_util::client::{
    legacy::connect::{HttpConnector, proxy::Tunnel},
    proxy::matcher::{Intercept, Matcher},
};

use super::failure::Failure;
use text::environment::Environment;

/// A proxy that connections go through.
#[derive(Debug)]
pub(super) struct Proxy(Intercept);

impl Proxy {
    /// The proxy on the way to an address; `None` where there is none.
    pub(super) fn of(environment: &Environment, address: &str) -> Result<Option<Self>, Failure> {
        let Ok(uri) = address.parse::<Uri>() else {
            // The first question will say what is wrong with it.
            return Ok(None);
        };
        let plain = uri.scheme_str() == Some("http");
        let own = if plain { "HTTP_PROXY" } else { "HTTPS_PROXY" };
        let named = [own, "ALL_PROXY"]
            .into_iter()
            .find_map(|name| Some((name, variable(environment, name)?)));
        let Some((name, value)) = named else {
            return Ok(None);
        };
        let unusable = |why: &str| Err(Failure::Setup(format!("the proxy of {name} {why}")));
        let everywhere = Matcher::builder().all(value).build();
        let Some(found) = everywhere.intercept(&uri) else {
            return unusable("is no address");
        };
        let exceptions = variable(environment, "NO_PROXY").unwrap_or_default();
        let chosen = Matcher::builder().all(value).no(exceptions).build();
        if chosen.intercept(&uri).is_none() {
            return Ok(None);
        }
        if found.uri().scheme_str() != Some("http") {
            return unusable("is not reached over plain HTTP, which is the only way here");
        }
        if plain && uri.port().is_none() {
            return unusable("needs the port of an API that is reached over plain HTTP");
        }
        Ok(Some(Self(found)))
    }

    /// A connector that asks the proxy for a tunnel to wherever it is to connect.
    pub(super) fn tunnel(&self, connector: HttpConnector) -> Tunnel<HttpConnector> {
        let tunnel = Tunnel::new(self.0.uri().clone(), connector);
        match self.0.basic_auth() {
            Some(authorization) => tunnel.with_auth(authorization.clone()),
            None => tunnel,
        }
    }

    /// Its place, for people; never its password.
    pub(super) fn shown(&self) -> String {
        let uri = self.0.uri();
        let host = uri.host().unwrap_or_default();
        match uri.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// A variable that says something, in capitals or not.
fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    let small = name.to_lowercase();
    let value = |name: &str| {
        let value = environment.variable(name).map(str::trim);
        value.filter(|value| !value.is_empty())
    };
    value(name).or_else(|| value(&small))
}

#[cfg(test)]
mod tests {
    use super::Proxy;
    use text::environment::Environment;

    fn of(variables: &[(&str, &str)], address: &str) -> Result<Option<String>, String> {
        let environment = Environment {
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Environment::default()
        };
        let proxy = Proxy::of(&environment, address).map_err(|failure| failure.to_string())?;
        Ok(proxy.map(|proxy| proxy.shown()))
    }

    #[test]
    fn the_environment_names_the_proxy() {
        let https = "https://api.github.com";
        let case = |variables: &[(&str, &str)], address: &str, wanted: Option<&str>| {
            assert_eq!(
                of(variables, address),
                Ok(wanted.map(str::to_owned)),
                "{variables:?}"
            );
        };
        case(&[], https, None);
        case(&[("HTTPS_PROXY", "")], https, None);
        case(&[("HTTPS_PROXY", "http://p:3128")], https, Some("p:3128"));
        case(&[("https_proxy", "p:3128")], https, Some("p:3128"));
        case(&[("all_proxy", "http://u:secret@p:1")], https, Some("p:1"));
        case(&[("HTTP_PROXY", "http://p:1")], https, None);
        case(
            &[("HTTP_PROXY", "http://p:1")],
            "http://ghes:80",
            Some("p:1"),
        );
        let except = |hosts| [("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", hosts)];
        case(&except("github.com"), https, None);
        case(&except(".github.com, other"), https, None);
        case(&except("*"), https, None);
        case(&except("hub.com"), https, Some("p:1"));
    }

    #[test]
    fn what_cannot_be_used_is_no_reason_to_go_around_it() {
        let case = |value: &str, address: &str, wanted: &str| {
            let said = of(&[("ALL_PROXY", value)], address).unwrap_err();
            assert!(said.contains(wanted), "{said}");
            assert!(!said.contains("secret"), "{said}");
        };
        case("http://u:secret@", "https://a", "is no address");
        case("socks5://u:secret@p:1", "https://a", "plain HTTP");
        case("https://u:secret@p:1", "https://a", "plain HTTP");
        case("http://p:1", "http://ghes", "needs the port");
    }
}
