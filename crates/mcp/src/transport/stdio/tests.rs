use std::time::Duration;

use tokio::time::Instant;

use super::{Inbound, Outgoing, Purpose, SendFailure, Unsent};
use crate::{
    protocol::frame::{Direction, Frame, FrameMeta, LineEnd},
    transport::{
        Connection,
        tests::duplex::{self, duplex},
    },
};

fn text(received: Inbound) -> String {
    match received {
        Inbound::Message { bytes, .. } => String::from_utf8(bytes).unwrap(),
        other @ (Inbound::TooLong { .. }
        | Inbound::Noted(..)
        | Inbound::Unanswered { .. }
        | Inbound::Sent(_)
        | Inbound::Closed) => {
            panic!("{other:?}")
        }
    }
}

async fn ask(connection: &mut Connection, bytes: &[u8]) -> Result<(), SendFailure> {
    let purpose = Purpose::Asks;
    connection.send(Outgoing { bytes, purpose }).await
}

#[tokio::test]
async fn frames_go_both_ways_and_into_the_log() {
    let (mut connection, mut peer) = duplex();
    ask(&mut connection, b"{\"ask\":1}").await.unwrap();
    assert_eq!(peer.line().await.as_deref(), Some("{\"ask\":1}"));
    peer.write(b"{\"answer\":1}\r\n\n{\"cut").await;
    drop(peer);
    assert_eq!(text(connection.next().await), "{\"answer\":1}");
    assert_eq!(text(connection.next().await), "");
    let Inbound::Message { meta, .. } = connection.next().await else {
        panic!("the unfinished line is handed out");
    };
    assert_eq!(meta, FrameMeta::Line(LineEnd::Missing));
    assert_eq!(connection.next().await, Inbound::Closed);
    assert_eq!(connection.next().await, Inbound::Closed);
    let frames = connection.log().take().into_frames();
    let seen: Vec<_> = frames.iter().map(|f| (f.direction, f.text())).collect();
    assert_eq!(
        seen,
        [
            (Direction::Sent, "{\"ask\":1}".to_owned()),
            (Direction::Received, "{\"answer\":1}".to_owned()),
            (Direction::Received, String::new()),
            (Direction::Received, "{\"cut".to_owned()),
        ]
    );
    assert!(frames.windows(2).all(|pair| pair[0].at_us <= pair[1].at_us));
}

#[tokio::test]
async fn a_long_frame_passes_although_the_server_writes_before_it_reads() {
    let (mut connection, mut peer) = duplex();
    let sent = vec![b'a'; 3 * duplex::CAPACITY];
    let answer = vec![b'b'; 3 * duplex::CAPACITY];
    let server = tokio::spawn({
        let answer = answer.clone();
        async move {
            peer.write(&answer).await;
            peer.write(b"\n").await;
            peer.line().await.map(|line| line.len())
        }
    });
    ask(&mut connection, &sent).await.unwrap();
    let both = (connection.next().await, connection.next().await);
    let (written, received) = match both {
        (written @ Inbound::Sent(_), received) | (received, written) => (written, received),
    };
    assert!(written == Inbound::Sent(Ok(())));
    assert_eq!(text(received).len(), answer.len());
    assert_eq!(server.await.unwrap(), Some(sent.len()));
}

#[tokio::test]
async fn what_cannot_be_written_at_once_goes_out_while_lines_are_received() {
    let (mut connection, mut peer) = duplex();
    let sent = "a".repeat(3 * duplex::CAPACITY);
    ask(&mut connection, sent.as_bytes()).await.unwrap();
    ask(&mut connection, b"second").await.unwrap();
    assert_eq!(connection.unsent(), Unsent::Asks);
    let sent_all = tokio::time::timeout(Duration::ZERO, connection.next()).await;
    assert!(sent_all.is_err(), "nobody reads, so it cannot be done");
    peer.write(b"early\n").await;
    assert_eq!(text(connection.next().await), "early");
    let frames = connection.log().take().into_frames();
    assert_eq!(frames.len(), 2, "the second is not sent yet: {frames:?}");
    let server = tokio::spawn(async move {
        let lines = (peer.line().await, peer.line().await);
        (lines, peer)
    });
    assert_eq!(connection.next().await, Inbound::Sent(Ok(())));
    assert_eq!(connection.unsent(), Unsent::Nothing);
    let ((first, second), _peer) = server.await.unwrap();
    assert_eq!(
        (first.as_deref(), second.as_deref()),
        (Some(sent.as_str()), Some("second"))
    );
}

#[tokio::test]
async fn only_a_frame_that_something_depends_on_is_missed() {
    let long = vec![b'a'; 2 * duplex::CAPACITY];
    let broken = Inbound::Sent(Err(SendFailure::Closed));
    let cases = [
        (Purpose::Replies, Inbound::Sent(Ok(()))),
        (Purpose::Asks, broken),
    ];
    for (purpose, wanted) in cases {
        let (mut connection, mut peer) = duplex();
        let bytes = long.as_slice();
        connection.send(Outgoing { bytes, purpose }).await.unwrap();
        let waits = match purpose {
            Purpose::Asks => Unsent::Asks,
            Purpose::Replies => Unsent::Replies,
        };
        assert_eq!(connection.unsent(), waits);
        peer.turn_deaf();
        assert_eq!(connection.next().await, wanted);
        assert_eq!(connection.unsent(), Unsent::Nothing);
        peer.write(b"last words\n").await;
        assert_eq!(text(connection.next().await), "last words");
    }
}

#[tokio::test]
async fn a_cancelled_receive_loses_nothing() {
    let (mut connection, mut peer) = duplex();
    peer.write(b"half").await;
    let cancelled = tokio::time::timeout(Duration::ZERO, connection.next()).await;
    assert!(cancelled.is_err(), "the line is not finished");
    peer.write(b" and half\n").await;
    assert_eq!(text(connection.next().await), "half and half");
}

#[tokio::test]
async fn sending_to_a_closed_peer_fails_but_its_words_are_heard() {
    let (mut connection, mut peer) = duplex();
    peer.write(b"last words\n").await;
    drop(peer);
    assert_eq!(ask(&mut connection, b"x").await, Err(SendFailure::Closed));
    assert_eq!(ask(&mut connection, b"x").await, Err(SendFailure::Closed));
    assert_eq!(text(connection.next().await), "last words");
    assert_eq!(connection.next().await, Inbound::Closed);
}

#[tokio::test]
async fn a_stream_that_outlives_its_server_is_read_for_a_short_time() {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let (mut connection, mut peer) = duplex::watched(async move {
        let _ = told.await;
    });
    peer.write(b"before\n").await;
    tell.send(()).unwrap();
    assert_eq!(text(connection.next().await), "before");
    peer.write(b"after").await;
    let Inbound::Message { bytes, meta, .. } = connection.next().await else {
        panic!("the unfinished line is handed out");
    };
    assert_eq!(bytes, b"after");
    assert_eq!(meta, FrameMeta::Line(LineEnd::Missing));
    assert_eq!(connection.next().await, Inbound::Closed);
    drop(peer);
}

#[tokio::test]
async fn closing_ends_the_servers_input_and_goes_on_reading() {
    let (mut connection, mut peer) = duplex();
    connection.close(Instant::now()).await;
    assert_eq!(peer.line().await, None);
    peer.write(b"bye\n").await;
    drop(peer);
    connection.drain().await;
    let frames = connection.log().take().into_frames();
    assert_eq!(frames.iter().map(Frame::text).collect::<Vec<_>>(), ["bye"]);
}

#[tokio::test]
async fn a_line_that_our_close_cuts_off_is_told_from_one_without_an_end() {
    for (before, after, wanted) in [
        ("half", " and", LineEnd::CutOff),
        ("whole\n", "half", LineEnd::Missing),
    ] {
        let (mut connection, mut peer) = duplex();
        peer.write(before.as_bytes()).await;
        let early = tokio::time::timeout(Duration::ZERO, connection.next()).await;
        assert_eq!(early.is_ok(), before.ends_with('\n'));
        connection.close(Instant::now()).await;
        peer.write(after.as_bytes()).await;
        drop(peer);
        let Inbound::Message { meta, .. } = connection.next().await else {
            panic!("the unfinished line is handed out");
        };
        assert_eq!(meta, FrameMeta::Line(wanted), "{before:?}");
    }
}
