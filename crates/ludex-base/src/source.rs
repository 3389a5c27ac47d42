//! Source texts and places in them.

/// A text with the name that messages use for it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Byte offset of the first character of each line.
    line_starts: Vec<u32>,
}

impl Source {
    /// Creates a source from a name and a text.
    ///
    /// # Panics
    /// When the text has 4 GiB or more; callers limit what they read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        assert!(text.len() < u32::MAX as usize, "a source must be smaller than 4 GiB");
        let line_starts = line_starts(&text);
        Self { name: name.into(), text, line_starts }
    }

    /// Returns the name used in messages: a path or the name of a game.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns line and column of a byte offset, both counted from 1, columns in characters.
    ///
    /// ```
    /// let source = ludex_base::Source::new("t", "ab\ncé!");
    /// assert_eq!(source.line_column(6), (2, 3));
    /// ```
    ///
    /// Lines end with a line feed, a carriage return, or both.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line_idx = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let line_start = self.line_starts[line_idx] as usize;
        let before = &self.text.as_bytes()[line_start..(offset as usize).min(self.text.len())];
        // Continuation bytes of a UTF-8 character do not start a column.
        let n_before = before.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        (line_idx + 1, n_before + 1)
    }
}

/// Returns the offset of the first character of each line. A line ends with a line feed, a carriage
/// return, or both.
fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let ends_line = |&(idx, &byte): &(usize, &u8)| {
        byte == b'\n' || byte == b'\r' && bytes.get(idx + 1) != Some(&b'\n')
    };
    let ends = bytes.iter().enumerate().filter(ends_line);
    std::iter::once(0).chain(ends.map(|(idx, _)| idx as u32 + 1)).collect()
}

/// A range of bytes of a source: from `start` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of these byte offsets.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= u32::MAX as usize);
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the smallest span that contains both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_a_line_feed_or_a_carriage_return_or_both() {
        for text in ["a\nb\n\nc", "a\rb\r\rc", "a\r\nb\r\n\r\nc"] {
            let source = Source::new("t", text);
            let line_of = |name: &str| source.line_column(text.find(name).unwrap() as u32);
            assert_eq!(["a", "b", "c"].map(line_of), [(1, 1), (2, 1), (4, 1)], "{text:?}");
        }
    }
}
