//! HTTP+SSE, the transport of 2024-11-05: one stream brings everything that the server says, and its first event names the
//! url to which messages are posted.

use std::sync::Arc;

use reqwest::{Url, header::HeaderMap};
use tokio::sync::{mpsc, watch};

use super::{
    Came, Endpoint, is_of_type,
    post::Post,
    stream::{self, Ended, Resume},
};
use crate::observation::finding::FindingCode;

/// Where messages are posted.
#[derive(Debug, Clone, Default)]
pub(super) enum Address {
    /// The server has not said.
    #[default]
    Awaited,
    /// There.
    Known(Url),
    /// Nowhere: the stream could not be had, or has ended.
    Lost(String),
}

/// Opens the stream and hands on its messages until it ends.
pub(super) async fn listen(
    endpoint: Arc<Endpoint>,
    tell: mpsc::Sender<Came>,
    address: watch::Sender<Address>,
) {
    let lose = |reason: String| {
        address.send_replace(Address::Lost(reason));
    };
    let mut resume = Resume::default();
    let url = &endpoint.url;
    let response = match stream::open(&endpoint, &resume).await {
        Ok(response) => response,
        Err(reason) => return lose(format!("`{url}` could not be reached: {reason}")),
    };
    let status = response.status();
    if tell.send(Came::head(&response)).await.is_err() {
        return;
    }
    if !status.is_success() || !is_of_type(&response, "text/event-stream") {
        return lose(format!(
            "HTTP {status} in place of a stream of events at `{url}`"
        ));
    }
    let named = |kind: &str, data: &[u8]| {
        if kind != "endpoint" {
            return;
        }
        let text = String::from_utf8_lossy(data);
        let found = url.join(text.trim());
        address.send_replace(match found {
            Ok(found) if found.origin() == url.origin() => Address::Known(found),
            Ok(found) => Address::Lost(format!(
                "the server names `{found}`, which is of another origin than `{url}`"
            )),
            Err(error) => Address::Lost(format!("the server names `{text}`: {error}")),
        });
    };
    let ended = stream::carry(response, &tell, &mut resume, |_| false, named).await;
    lose(match ended {
        Ended::Broken(Some(why)) => format!("the stream of events broke off: {why}"),
        Ended::Broken(None) => "the stream of events ended".to_owned(),
        Ended::Done | Ended::Unheard => return,
    });
    let _ = tell.send(Came::Ended).await;
}

/// Posts a message; what answers it comes over the stream.
pub(super) async fn carry(mut post: Post, mut address: watch::Receiver<Address>) {
    post.turn().await;
    let known = address
        .wait_for(|address| !matches!(address, Address::Awaited))
        .await
        .map(|address| address.clone());
    let sent = match known {
        Ok(Address::Known(url)) => post.send(url, HeaderMap::new()).await,
        Ok(Address::Lost(reason)) => Err(reason),
        Ok(Address::Awaited) | Err(_) => return,
    };
    if sent.is_ok() {
        post.let_go();
    }
    let Post { tell, kind, .. } = post;
    let reason = match sent {
        Ok((response, led)) => {
            let status = response.status();
            for led in led {
                let _ = tell.send(Came::Noted((FindingCode::Redirected, led))).await;
            }
            if tell.send(Came::head(&response)).await.is_err() || status.is_success() {
                return;
            }
            format!("HTTP {status}")
        }
        Err(reason) => reason,
    };
    let _ = tell.send(kind.failed(reason)).await;
}
