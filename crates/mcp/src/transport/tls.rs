//! The one set of certificate authorities that our own connections trust: those named by `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, else the system's, else the ones compiled in, so that the binary works in an empty root.
//! An engine behind TLS has its own authority and is no matter of this file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use text::environment::Environment;

/// Why no connection can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The variables name places without a usable certificate.
    #[error(
        "no certificate in `{places}`, which {variables} names ({reason})\n  help: name a PEM file with the \
         authorities to trust, or unset the variable"
    )]
    NothingNamed {
        /// The places.
        places: String,
        /// The variables that name them.
        variables: &'static str,
        /// What was wrong with them.
        reason: String,
    },
    /// The file that a suite names holds no authority.
    #[error("no certificate in `{0}`, which `tls: {{ca: …}}` names")]
    NoAuthority(String),
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

/// Which certificates of servers are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Trusted {
    /// Those of the usual authorities.
    Usual,
    /// Those, and those of the authorities in this PEM file.
    Also(PathBuf),
    /// Any.
    Anyone,
}

/// How to connect over TLS as a client. Certificates are read from files: call it once.
pub fn client_config(environment: &Environment) -> Result<ClientConfig, TlsError> {
    config_trusting(environment, &Trusted::Usual)
}

/// The same, for servers whose certificates are trusted in this way.
pub fn config_trusting(
    environment: &Environment,
    trusted: &Trusted,
) -> Result<ClientConfig, TlsError> {
    // The provider is named, so that nothing depends on which crate installed one first.
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match trusted {
        Trusted::Usual => builder.with_root_certificates(authorities(environment)?),
        Trusted::Also(file) => {
            let mut store = authorities(environment)?;
            let found = rustls_native_certs::load_certs_from_paths(Some(file), None);
            let (added, _) = store.add_parsable_certificates(found.certs);
            if added == 0 {
                return Err(TlsError::NoAuthority(file.display().to_string()));
            }
            builder.with_root_certificates(store)
        }
        Trusted::Anyone => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(provider))),
    };
    Ok(builder.with_no_client_auth())
}

/// Takes every certificate; the signatures of the handshake are checked all the same.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The authorities that are trusted.
fn authorities(environment: &Environment) -> Result<RootCertStore, TlsError> {
    let named = |variable: &str| {
        environment
            .variable(variable)
            .filter(|value| !value.is_empty())
    };
    let (file, folders) = (named("SSL_CERT_FILE"), named("SSL_CERT_DIR"));
    if file.is_some() || folders.is_some() {
        return from_variables(file, folders);
    }
    let mut store = store_of(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(store)
}

/// The authorities in the places that the variables name; none at all is an error, never a silent fall-back.
fn from_variables(file: Option<&str>, folders: Option<&str>) -> Result<RootCertStore, TlsError> {
    let folders = folders.iter().flat_map(|text| std::env::split_paths(text));
    let folders: Vec<PathBuf> = folders.collect();
    let mut found = rustls_native_certs::load_certs_from_paths(file.map(Path::new), None);
    for folder in &folders {
        let more = rustls_native_certs::load_certs_from_paths(None, Some(folder));
        found.certs.extend(more.certs);
        found.errors.extend(more.errors);
    }
    let store = store_of(found.certs);
    if !store.is_empty() {
        return Ok(store);
    }
    let folder_names = folders.iter().map(|folder| folder.display().to_string());
    let places: Vec<String> = file
        .map(str::to_owned)
        .into_iter()
        .chain(folder_names)
        .collect();
    let variables = match (file, folders.is_empty()) {
        (Some(_), true) => "SSL_CERT_FILE",
        (None, _) => "SSL_CERT_DIR",
        (Some(_), false) => "SSL_CERT_FILE and SSL_CERT_DIR",
    };
    let reason = found.errors.first().map(ToString::to_string);
    Err(TlsError::NothingNamed {
        places: places.join("`, `"),
        variables,
        reason: reason.unwrap_or_else(|| "there is none".to_owned()),
    })
}

/// The certificates that can stand for an authority; system stores hold odd ones, which are left out.
fn store_of(certificates: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    store
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment {
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Environment::default()
        }
    }

    /// An authority made for this test and valid nowhere.
    const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----
MIIBiTCCAS+gAwIBAgIUAY02vep9u/3Ll/7UMgEegz9II/swCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIyMDgxMTI2WhgPMjEy
NjEwMjkwODExMjZaMBkxFzAVBgNVBAMMDnRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAElREPT/dORUmukNrg7X655OjXyx08n/xD3q1yvleA
QN2Jpv8ybVLzJ4igrDJZuo5IfPkX8aHp2SMdVPCB8kxpJ6NTMFEwHQYDVR0OBBYE
FHEuMouL796UG3N7yC+p3fSNa/KuMB8GA1UdIwQYMBaAFHEuMouL796UG3N7yC+p
3fSNa/KuMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAKoU0lF+
t/khE6La/za1WLb/zRLMr1De1fhPHZvXwqB/AiAll0dpdzdHTrWa+2/afvBdji1p
EQh5F9Rf5lznnTqoQw==
-----END CERTIFICATE-----
";

    #[test]
    fn a_named_file_is_all_that_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, AUTHORITY).unwrap();
        let environment = environment(&[("SSL_CERT_FILE", file.to_str().unwrap())]);
        assert_eq!(authorities(&environment).unwrap().len(), 1);
        assert!(client_config(&environment).is_ok());
    }

    #[test]
    fn a_file_without_certificates_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("empty.pem");
        std::fs::write(&file, "").unwrap();
        let environment = environment(&[("SSL_CERT_FILE", file.to_str().unwrap())]);
        let said = authorities(&environment).unwrap_err().to_string();
        assert!(said.contains("empty.pem"), "{said}");
        assert!(said.contains("SSL_CERT_FILE"), "{said}");
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let missing = [
            ("SSL_CERT_FILE", "/no/such.pem"),
            ("SSL_CERT_DIR", "/no/such"),
        ];
        let said = authorities(&environment(&missing)).unwrap_err().to_string();
        assert!(said.contains("`/no/such.pem`, `/no/such`"), "{said}");
        assert!(said.contains("SSL_CERT_FILE and SSL_CERT_DIR"), "{said}");
    }

    #[test]
    fn somebody_is_trusted_everywhere() {
        assert!(!webpki_roots::TLS_SERVER_ROOTS.is_empty());
        assert!(!authorities(&environment(&[])).unwrap().is_empty());
    }
}
