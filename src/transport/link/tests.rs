use std::time::Duration;

use super::{Link, Purpose, Received, SendFailure};
use crate::{
    protocol::frame::{Direction, Frame, LineEnd},
    transport::duplex::{self, duplex},
};

fn text(received: Received) -> String {
    match received {
        Received::Line { bytes, .. } => String::from_utf8(bytes).unwrap(),
        other @ (Received::TooLong { .. } | Received::Sent(_) | Received::Closed) => {
            panic!("{other:?}")
        }
    }
}

async fn ask(link: &mut Link, frame: &[u8]) -> Result<(), SendFailure> {
    link.send(frame, Purpose::Asks).await
}

#[tokio::test]
async fn frames_go_both_ways_and_into_the_log() {
    let (mut link, mut peer) = duplex();
    ask(&mut link, b"{\"ask\":1}").await.unwrap();
    assert_eq!(peer.line().await.as_deref(), Some("{\"ask\":1}"));
    peer.write(b"{\"answer\":1}\r\n\n{\"cut").await;
    drop(peer);
    assert_eq!(text(link.receive().await), "{\"answer\":1}");
    assert_eq!(text(link.receive().await), "");
    let Received::Line { end, .. } = link.receive().await else {
        panic!("the unfinished line is handed out");
    };
    assert_eq!(end, LineEnd::Missing);
    assert_eq!(link.receive().await, Received::Closed);
    assert_eq!(link.receive().await, Received::Closed);
    let frames = link.log().take().into_frames();
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
    let (mut link, mut peer) = duplex();
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
    ask(&mut link, &sent).await.unwrap();
    link.flush().await.unwrap();
    assert_eq!(text(link.receive().await).len(), answer.len());
    assert_eq!(server.await.unwrap(), Some(sent.len()));
}

#[tokio::test]
async fn what_cannot_be_written_at_once_goes_out_while_lines_are_received() {
    let (mut link, mut peer) = duplex();
    let sent = "a".repeat(3 * duplex::CAPACITY);
    ask(&mut link, sent.as_bytes()).await.unwrap();
    ask(&mut link, b"second").await.unwrap();
    assert!(!link.is_idle());
    let flushed = tokio::time::timeout(Duration::ZERO, link.flush()).await;
    assert!(flushed.is_err(), "nobody reads, so it cannot be done");
    peer.write(b"early\n").await;
    assert_eq!(text(link.receive().await), "early");
    let frames = link.log().take().into_frames();
    assert_eq!(frames.len(), 2, "the second is not sent yet: {frames:?}");
    let server = tokio::spawn(async move {
        let lines = (peer.line().await, peer.line().await);
        (lines, peer)
    });
    assert_eq!(link.receive().await, Received::Sent(Ok(())));
    assert!(link.is_idle());
    let ((first, second), _peer) = server.await.unwrap();
    assert_eq!(
        (first.as_deref(), second.as_deref()),
        (Some(sent.as_str()), Some("second"))
    );
}

#[tokio::test]
async fn only_a_frame_that_something_depends_on_is_missed() {
    let long = vec![b'a'; 2 * duplex::CAPACITY];
    let broken = Received::Sent(Err(SendFailure::Closed));
    let cases = [
        (Purpose::Replies, Received::Sent(Ok(()))),
        (Purpose::Asks, broken),
    ];
    for (purpose, wanted) in cases {
        let (mut link, mut peer) = duplex();
        link.send(&long, purpose).await.unwrap();
        let waits = link.waiting_replies() > long.len();
        assert_eq!(waits, purpose == Purpose::Replies);
        peer.turn_deaf();
        assert_eq!(link.receive().await, wanted);
        assert_eq!(link.waiting_replies(), 0);
        peer.write(b"last words\n").await;
        assert_eq!(text(link.receive().await), "last words");
    }
}

#[tokio::test]
async fn a_cancelled_receive_loses_nothing() {
    let (mut link, mut peer) = duplex();
    peer.write(b"half").await;
    let cancelled = tokio::time::timeout(Duration::ZERO, link.receive()).await;
    assert!(cancelled.is_err(), "the line is not finished");
    peer.write(b" and half\n").await;
    assert_eq!(text(link.receive().await), "half and half");
}

#[tokio::test]
async fn sending_to_a_closed_peer_fails_but_its_words_are_heard() {
    let (mut link, mut peer) = duplex();
    peer.write(b"last words\n").await;
    drop(peer);
    assert_eq!(ask(&mut link, b"x").await, Err(SendFailure::Closed));
    assert_eq!(ask(&mut link, b"x").await, Err(SendFailure::Closed));
    assert_eq!(text(link.receive().await), "last words");
    assert_eq!(link.receive().await, Received::Closed);
}

#[tokio::test]
async fn a_stream_that_outlives_its_server_is_read_for_a_short_time() {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let (mut link, mut peer) = duplex::watched(async move {
        let _ = told.await;
    });
    peer.write(b"before\n").await;
    tell.send(()).unwrap();
    assert_eq!(text(link.receive().await), "before");
    peer.write(b"after").await;
    let Received::Line { bytes, end, .. } = link.receive().await else {
        panic!("the unfinished line is handed out");
    };
    assert_eq!((bytes.as_slice(), end), (&b"after"[..], LineEnd::Missing));
    assert_eq!(link.receive().await, Received::Closed);
    drop(peer);
}

#[tokio::test]
async fn closing_ends_the_servers_input_and_goes_on_reading() {
    let (mut link, mut peer) = duplex();
    link.close();
    assert_eq!(peer.line().await, None);
    peer.write(b"bye\n").await;
    drop(peer);
    link.drain().await;
    let frames = link.log().take().into_frames();
    assert_eq!(frames.iter().map(Frame::text).collect::<Vec<_>>(), ["bye"]);
}
