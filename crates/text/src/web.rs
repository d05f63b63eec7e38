//! What the web takes for a url and for the name of a header. Nothing is reached or sent here.

/// What keeps a text from being the url of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// Another scheme, or none.
    #[error("it does not begin with `http://` or `https://`")]
    Scheme,
    /// Nothing says whom to ask.
    #[error("it names no host")]
    Host,
    /// What stands behind the host's colon.
    #[error("its port is not a number from 0 to 65535")]
    Port,
    /// A blank, a line end, a control character.
    #[error("it contains a blank or an invisible character")]
    Sign,
}

/// The schemes of servers, with what parts them from the host.
const SCHEMES: [&str; 2] = ["http://", "https://"];

/// What follows the scheme of a server's url, whatever the case of the scheme.
fn behind_scheme(text: &str) -> Option<&str> {
    SCHEMES.iter().find_map(|scheme| {
        let start = text.get(..scheme.len())?;
        start
            .eq_ignore_ascii_case(scheme)
            .then(|| &text[scheme.len()..])
    })
}

/// Whether a text is meant as the url of a server, and not as a program.
pub fn has_web_scheme(text: &str) -> bool {
    behind_scheme(text).is_some()
}

/// Why a text is not a valid server URL.
fn url_fault(text: &str) -> Option<UrlFault> {
    let Some(rest) = behind_scheme(text) else {
        return Some(UrlFault::Scheme);
    };
    if text.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        return Some(UrlFault::Sign);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority
        .rsplit_once('@')
        .map_or(authority, |(_, place)| place);
    // The colons of an address in brackets are its own.
    let (host, port) = match place.rsplit_once(']') {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => match place.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    if host.is_empty() {
        return Some(UrlFault::Host);
    }
    let is_port = |port: &str| {
        let digits = port.bytes().all(|sign| sign.is_ascii_digit());
        digits && (port.is_empty() || port.parse::<u16>().is_ok())
    };
    port.is_some_and(|port| !is_port(port))
        .then_some(UrlFault::Port)
}

/// Why a text is no url of a server, whatever is filled in at `mark` and behind it.
pub fn fault_before(text: &str, mark: &str) -> Option<UrlFault> {
    match text.split_once(mark) {
        None => url_fault(text),
        Some((known, _)) => fault_from_start(known),
    }
}

/// Why no text that begins like this is a url of a server.
fn fault_from_start(start: &str) -> Option<UrlFault> {
    let lower = start.to_ascii_lowercase();
    let may_become = SCHEMES.iter().any(|scheme| scheme.starts_with(&lower));
    (!may_become && !has_web_scheme(start)).then_some(UrlFault::Scheme)
}

/// Whether a header can have this name (RFC 9110, section 5.6.2).
pub fn is_header_name(name: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&sign);
    !name.is_empty() && name.bytes().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::{UrlFault, fault_from_start, is_header_name, url_fault};

    #[test]
    fn a_url_has_a_scheme_a_host_and_perhaps_a_port() {
        let case = |text: &str, wanted: Option<UrlFault>| {
            assert_eq!(url_fault(text), wanted, "{text}");
        };
        for right in [
            "http://x",
            "HTTP://x",
            "Https://user:pass@host.example:8443/mcp?a=b:c#d",
            "http://[::1]:3000/mcp",
            "http://[::1]",
            "http://x:/mcp",
            "http://x/a@b:c",
            "http://münchen.example/ä",
        ] {
            case(right, None);
        }
        for other in ["", "localhost:80/mcp", "ws://x", "//x", "/mcp", "$URL", "é"] {
            case(other, Some(UrlFault::Scheme));
        }
        for nowhere in [
            "http://",
            "http:///mcp",
            "http://:80",
            "http://?a",
            "http://u@",
        ] {
            case(nowhere, Some(UrlFault::Host));
        }
        for port in [
            "http://x:65536",
            "http://x:80a/",
            "http://[::1]:x",
            "http://x:-1",
        ] {
            case(port, Some(UrlFault::Port));
        }
        for sign in ["http://x/a b", "http://x\n", "http:// x"] {
            case(sign, Some(UrlFault::Sign));
        }
    }

    #[test]
    fn a_start_is_wrong_when_nothing_can_mend_it() {
        for open in ["", "h", "http", "HTTPS:/", "http://", "http://x:"] {
            assert_eq!(fault_from_start(open), None, "{open}");
        }
        for wrong in ["localhost:", "ws://", "httpx"] {
            let fault = Some(UrlFault::Scheme);
            assert_eq!(fault_from_start(wrong), fault, "{wrong}");
        }
    }

    #[test]
    fn a_header_is_called_by_letters_digits_and_some_signs() {
        for name in ["X-Team", "authorization", "x_y.z", "1"] {
            assert!(is_header_name(name), "{name}");
        }
        for name in ["", "bad name", "X:", "Ä", "a\n", "(a)"] {
            assert!(!is_header_name(name), "{name}");
        }
    }
}
