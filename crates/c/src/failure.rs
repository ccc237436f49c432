//! What went wrong in the last call of a thread, and the border that no panic crosses.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Does what C asks for. If that fails or panics, the reason is kept for this thread, and C gets
/// `failed`.
pub(crate) fn border<T>(failed: T, act: impl FnOnce() -> Result<T, String>) -> T {
    // What is left half-done by a panic is not used again: handles are taken or only read.
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(done)) => done,
        Ok(Err(line)) => {
            keep(line);
            failed
        }
        Err(_) => {
            keep("this is a mistake in Bellwether: the call panicked; please report it".to_owned());
            failed
        }
    }
}

fn keep(line: String) {
    let mut bytes = line.into_bytes();
    bytes.retain(|byte| *byte != 0);
    let line = CString::new(bytes).unwrap_or_default();
    // A thread that is just ending asks for no reason any more.
    let _ = LAST.try_with(|last| last.replace(line));
}

/// The reason, valid until the next call of this thread.
pub(crate) fn last() -> *const c_char {
    let none: &CStr = c"";
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(none.as_ptr())
}
