//! What a caught panic says.

use std::any::Any;

/// Returns the message of a panic, given what `catch_unwind` or `join` returned.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn fixed_and_formatted_messages_are_found() {
        let said = |work: fn()| panic_message(&*catch_unwind(work).expect_err("it panics"));
        assert_eq!(said(|| panic!("fixed")), "fixed");
        assert_eq!(said(|| panic!("number {}", 7)), "number 7");
        assert_eq!(said(|| std::panic::panic_any(7)), "a panic without a message");
    }
}
