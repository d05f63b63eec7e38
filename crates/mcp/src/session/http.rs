//! `http`: a request that belongs to no session, and the response to it.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Observed, Session,
    exchange::Halt,
    line::{self, Line},
};
use crate::{
    observation::{
        answer::{Answer, Body, HttpHead, Rendering, Reply},
        disruption::DisruptionKind,
    },
    script::subject::{HttpCall, RawFrame},
    transport::http::plain::PlainRequest,
};

impl Session {
    /// Sends the request, and takes the response.
    pub(super) async fn http(&mut self, call: &HttpCall) -> Observed<()> {
        let path = self.text(&call.path)?;
        let mut headers = Vec::with_capacity(call.headers.len());
        let mut body = Vec::new();
        match &call.body {
            None => {}
            Some(RawFrame::Text(text)) => body = self.text(text)?.into_bytes(),
            Some(RawFrame::Json(value)) => {
                body = self.value(value)?.to_string().into_bytes();
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
        }
        for (name, value) in &call.headers {
            headers.push((name.clone(), self.text(value)?));
        }
        let request = PlainRequest {
            method: &call.method,
            path: &path,
            headers,
            credentials: call.credentials,
            body,
            within: call.within,
        };
        let began = Instant::now();
        let http = self.exchange.connection.http_only();
        let fetching = match http.map(|http| http.fetch(request)) {
            Some(Ok(fetching)) => fetching,
            Some(Err(reason)) => return Err(self.cannot(DisruptionKind::Invalid, reason).into()),
            None => {
                let message = "`http` asks a server behind a url, and this one speaks over its standard streams";
                let disruption = self.cannot(DisruptionKind::Invalid, message.to_owned());
                let help = "`transport: http`, with `url`, `launch` or `builtin`";
                return Err(disruption.with_help(help).into());
            }
        };
        let fetched = self.meanwhile(timeout_at(self.deadline, fetching)).await;
        let halt = match fetched {
            Ok(Ok(response)) => {
                self.seen.answer = Some(self.responded(response, began));
                return Ok(());
            }
            Ok(Err(reason)) => Halt::Deaf(reason),
            Err(_) => Halt::Deadline,
        };
        Err(self.disrupt(halt, &call.what()).await)
    }

    /// The response as an answer.
    fn responded(&mut self, (head, body): (HttpHead, Vec<u8>), began: Instant) -> Answer {
        let text = String::from_utf8_lossy(&body).into_owned();
        // A body is bounded as a line is.
        let (raw, rendering) = if let Line::Json(value) = line::read(&body).line {
            (value, Rendering::Json)
        } else {
            (Value::Null, Rendering::Blocks)
        };
        let reply = Reply {
            raw,
            rendering,
            text,
            http: Some(Box::new(head)),
            ..Reply::default()
        };
        let at_us = self.exchange.connection.clock().at_us();
        let (told, asked) = self.exchange.dialogue.record.arrived();
        Answer {
            body: Body::Result(reply),
            took: began.elapsed(),
            bytes: body.len(),
            at_us,
            on_time: told,
            progress_token: None,
            notifications: told..told,
            server_requests: asked..asked,
            tool: None,
            arguments: Value::Null,
            unserved: None,
            interest: None,
        }
    }
}
