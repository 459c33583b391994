//! Whatever a client sends to the server of the live page.
#![no_main]

use std::cell::LazyCell;

use evenkeel_fuzz_parsers::Scratch;
use evenkeel_lab::serve::fuzzing::Unheard;

thread_local!(static SERVER: LazyCell<Unheard> = LazyCell::new(|| {
    Unheard::new(Scratch::new("served/nothing").path.parent().unwrap().to_owned())
}));

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let answer = SERVER.with(|server| server.answer(data));
    let status = answer.get(..12).unwrap_or_default();
    // Nothing where the words do not end; else an answer, and none that says that the server failed.
    assert!(
        answer.is_empty() || status.starts_with(b"HTTP/1.") && status[9] != b'5',
        "{}",
        String::from_utf8_lossy(&answer)
    );
    assert!(status.get(9) != Some(&b'2') || names_us(data), "answers to another name");
});

/// Whether a request has the host that the server answers to.
fn names_us(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"].iter().any(|host| text.contains(host))
}
