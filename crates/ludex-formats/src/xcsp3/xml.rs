//! An XML tree whose nodes know their lines.

use std::sync::Arc;

use ludex_base::{Deadline, StopReason};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::FormatError;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Node>,
    /// The text directly inside, all pieces joined. It is shared, since tables are large and
    /// groups repeat them.
    pub text: Arc<str>,
    pub line: usize,
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name == name)
    }

    pub fn children_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children.iter().filter(move |child| child.name == name)
    }

    pub fn error(&self, problem: impl Into<String>) -> FormatError {
        FormatError::Syntax { line: self.line, problem: problem.into() }
    }

    pub fn unsupported(&self, element: impl Into<String>) -> FormatError {
        FormatError::Unsupported { line: self.line, element: element.into() }
    }
}

/// Deepest nesting of elements.
const MAX_DEPTH: usize = 100;

/// Reads a document with one root.
pub(super) fn parse(text: &str, deadline: &Deadline) -> Result<Node, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text: text.as_bytes(), offset: 0, line: 1 };
    // Open elements, each with its text so far.
    let mut open: Vec<(Node, String)> = Vec::new();
    loop {
        if deadline.reached() {
            return Err(FormatError::Stopped(StopReason::of_deadline()));
        }
        let event = reader.read_event();
        let line = lines.at(usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX));
        let syntax = |problem: String| FormatError::Syntax { line, problem };
        let closed = match event.map_err(|error| syntax(error.to_string()))? {
            Event::Start(start) => {
                if open.len() >= MAX_DEPTH {
                    return Err(syntax(format!("elements are nested deeper than {MAX_DEPTH}")));
                }
                open.push((element(&start, line)?, String::new()));
                None
            }
            Event::Empty(start) => Some(element(&start, line)?),
            Event::End(_) => {
                let (mut node, text) =
                    open.pop().ok_or_else(|| syntax("an end tag without a start tag".into()))?;
                node.text = text.into();
                Some(node)
            }
            Event::Text(piece) => {
                let piece = piece.decode().map_err(|error| syntax(error.to_string()))?;
                append(&mut open, &piece, line)?;
                None
            }
            Event::CData(piece) => {
                let piece = piece.decode().map_err(|error| syntax(error.to_string()))?;
                append(&mut open, &piece, line)?;
                None
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(|error| syntax(error.to_string()))?;
                let number =
                    reference.resolve_char_ref().map_err(|error| syntax(error.to_string()))?;
                let piece = match (number, &*name) {
                    (Some(character), _) => character,
                    (None, "lt") => '<',
                    (None, "gt") => '>',
                    (None, "amp") => '&',
                    (None, "quot") => '"',
                    (None, "apos") => '\'',
                    _ => return Err(syntax(format!("unknown entity `{name}`"))),
                };
                append(&mut open, piece.encode_utf8(&mut [0; 4]), line)?;
                None
            }
            Event::Eof => return Err(syntax("the text ends before its root element".into())),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => None,
        };
        if let Some(node) = closed {
            match open.last_mut() {
                Some((parent, _)) => parent.children.push(node),
                None => return Ok(node),
            }
        }
    }
}

fn append(open: &mut [(Node, String)], piece: &str, line: usize) -> Result<(), FormatError> {
    match open.last_mut() {
        Some((_, text)) => text.push_str(piece),
        None if piece.trim().is_empty() => {}
        None => {
            let problem = "text outside the root element".to_string();
            return Err(FormatError::Syntax { line, problem });
        }
    }
    Ok(())
}

fn element(start: &BytesStart<'_>, line: usize) -> Result<Node, FormatError> {
    let syntax = |problem: String| FormatError::Syntax { line, problem };
    let utf8 = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|_| syntax("a name is not UTF-8".into()))
    };
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| syntax(error.to_string()))?;
        let value = attribute.unescape_value().map_err(|error| syntax(error.to_string()))?;
        attributes.push((utf8(attribute.key.as_ref())?, value.into_owned()));
    }
    let name = utf8(start.name().as_ref())?;
    Ok(Node { name, attributes, children: Vec::new(), text: Arc::from(""), line })
}

/// Counts lines as the reader advances.
struct Lines<'a> {
    text: &'a [u8],
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        if offset > self.offset {
            let passed = &self.text[self.offset..offset];
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
            self.offset = offset;
        }
        self.line
    }
}
