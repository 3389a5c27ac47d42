//! Files that keep every finished row of long work, and from which the work goes on.
//!
//! [`Lines`] appends lines to a file and returns when each is on the disk. [`Journal`] holds rows of
//! JSON, each with a checksum, after a header that says which work they belong to.
//!
//! A process can be killed, and a disk can be full, in the middle of a line. Opening the file again
//! takes the whole lines and removes what follows the last of them.
//!
//! Invariant: a row whose [`append`](Journal::append) has returned is read back, once and unchanged;
//! nothing else is read. A file that holds something else is refused and left as it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};

use ludex_game::trace::hash_texts;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A file, or what stands for one in a test.
pub trait Storage: Read + Write + Seek {
    /// Cuts the contents to this many bytes.
    ///
    /// # Errors
    /// When the storage fails.
    fn set_len(&mut self, n_bytes: u64) -> io::Result<()>;

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// When the storage fails.
    fn sync(&mut self) -> io::Result<()>;
}

impl Storage for File {
    fn set_len(&mut self, n_bytes: u64) -> io::Result<()> {
        File::set_len(self, n_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Bytes that were read from a file, which stays as it is.
impl Storage for io::Cursor<Vec<u8>> {
    fn set_len(&mut self, n_bytes: u64) -> io::Result<()> {
        self.get_mut().truncate(usize::try_from(n_bytes).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whole lines, one after the other.
#[derive(Debug)]
pub struct Lines<S> {
    storage: S,
    /// The bytes of all whole lines.
    n_bytes: u64,
}

impl<S: Storage> Lines<S> {
    /// Reads the whole lines and removes what follows them: at most one line, the one that was
    /// being written. `is_whole` decides whether a line is whole, given without its line end.
    ///
    /// # Errors
    /// When the storage fails, or when a line that is not whole is followed by others. The storage
    /// is left as it is then.
    pub fn open(
        mut storage: S,
        is_whole: impl Fn(&str) -> bool,
    ) -> io::Result<(Self, Vec<String>)> {
        let mut lines = Vec::new();
        let mut n_bytes = 0;
        storage.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::new(&mut storage);
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let text = line.strip_suffix(b"\n").and_then(|text| str::from_utf8(text).ok());
            match text.filter(|text| is_whole(text)) {
                Some(text) => lines.push(text.to_owned()),
                None if reader.fill_buf()?.is_empty() => break,
                None => {
                    let message = format!("line {} is damaged", lines.len() + 1);
                    return Err(io::Error::new(ErrorKind::InvalidData, message));
                }
            }
            n_bytes += line.len() as u64;
        }
        drop(reader);
        let mut opened = Self { storage, n_bytes };
        opened.cut()?;
        Ok((opened, lines))
    }

    /// Appends a line, given without its line end, and waits until it is on the disk.
    ///
    /// # Errors
    /// When the storage fails. What was written of the line is removed, if possible, so that a later
    /// line can be appended.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        debug_assert!(!line.contains('\n'), "one line");
        let written = self.write(&format!("{line}\n"));
        match written {
            Ok(n_bytes) => self.n_bytes += n_bytes,
            // The first error says more than one about the attempt to clean up.
            Err(_) => self.cut().unwrap_or(()),
        }
        written.map(|_| ())
    }

    fn write(&mut self, text: &str) -> io::Result<u64> {
        self.storage.seek(SeekFrom::Start(self.n_bytes))?;
        self.storage.write_all(text.as_bytes())?;
        self.storage.sync()?;
        Ok(text.len() as u64)
    }

    /// Removes what follows the whole lines.
    fn cut(&mut self) -> io::Result<()> {
        if self.storage.seek(SeekFrom::End(0))? > self.n_bytes {
            self.storage.set_len(self.n_bytes)?;
            self.storage.sync()?;
        }
        Ok(())
    }
}

/// Rows of JSON with checksums, after a header.
#[derive(Debug)]
pub struct Journal<S> {
    lines: Lines<S>,
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The storage failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file holds something else, or a row in the middle is damaged.
    #[error("line {line} is not a row of a series; name another file")]
    Foreign {
        /// The line, from 1.
        line: usize,
    },
}

/// What a journal holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Contents<H, R> {
    /// The header.
    pub header: H,
    /// The rows, in the order in which they were appended.
    pub rows: Vec<R>,
}

impl<S: Storage> Journal<S> {
    /// Opens a journal and reads it: `None` if it has no header yet.
    ///
    /// # Errors
    /// When the storage fails or holds something else.
    pub fn open<H, R>(mut storage: S) -> Result<(Self, Option<Contents<H, R>>), JournalError>
    where
        H: DeserializeOwned,
        R: DeserializeOwned,
    {
        check_beginning(&mut storage)?;
        let (lines, texts) = Lines::open(storage, |line| row_of(line).is_some())?;
        let mut texts = texts.iter().map(|line| row_of(line).expect("whole lines were read"));
        let foreign = |line: usize| JournalError::Foreign { line };
        let contents = match texts.next() {
            None => None,
            Some(header) => {
                let header = serde_json::from_str(header).map_err(|_| foreign(1))?;
                let rows = texts
                    .enumerate()
                    .map(|(idx, row)| serde_json::from_str(row).map_err(|_| foreign(idx + 2)));
                Some(Contents { header, rows: rows.collect::<Result<_, _>>()? })
            }
        };
        Ok((Self { lines }, contents))
    }

    /// Appends the header, or a row, and waits until it is on the disk.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn append(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.lines.append(&line_of(&serde_json::to_string(row)?))
    }
}

const BEFORE_HASH: &str = r#"{"sha256":""#;
const BEFORE_ROW: &str = r#"","row":"#;
const AFTER_ROW: &str = "}";
const HASH_CHARS: usize = 16;

/// Refuses a file that does not begin as a journal does, so that nothing of it is removed.
fn check_beginning(storage: &mut impl Storage) -> Result<(), JournalError> {
    storage.seek(SeekFrom::Start(0))?;
    let mut beginning = Vec::new();
    Read::by_ref(storage).take(BEFORE_HASH.len() as u64).read_to_end(&mut beginning)?;
    if BEFORE_HASH.as_bytes().starts_with(&beginning) {
        Ok(())
    } else {
        Err(JournalError::Foreign { line: 1 })
    }
}

/// Writes a row with the beginning of its SHA-256, as one JSON object.
fn line_of(row: &str) -> String {
    format!("{BEFORE_HASH}{}{BEFORE_ROW}{row}{AFTER_ROW}", hash_texts([row]))
}

/// Returns the row of a line if the line is whole.
fn row_of(line: &str) -> Option<&str> {
    let (hash, rest) = line.strip_prefix(BEFORE_HASH)?.split_at_checked(HASH_CHARS)?;
    let row = rest.strip_prefix(BEFORE_ROW)?.strip_suffix(AFTER_ROW)?;
    (hash_texts([row]) == hash).then_some(row)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A file in memory, on a disk of limited size.
    #[derive(Clone, Debug)]
    struct Disk {
        file: Cursor<Vec<u8>>,
        max_bytes: usize,
    }

    impl Disk {
        fn with(bytes: &[u8]) -> Self {
            Self { file: Cursor::new(bytes.to_vec()), max_bytes: usize::MAX }
        }
    }

    impl Read for Disk {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.file.read(buffer)
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = self.max_bytes.saturating_sub(self.file.position() as usize);
            match bytes.len().min(room) {
                0 => Err(ErrorKind::StorageFull.into()),
                n_bytes => self.file.write(&bytes[..n_bytes]),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    impl Storage for Disk {
        fn set_len(&mut self, n_bytes: u64) -> io::Result<()> {
            self.file.get_mut().truncate(n_bytes as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Opened = (Journal<Disk>, Option<Contents<String, (usize, String)>>);

    fn open(disk: Disk) -> Result<Opened, JournalError> {
        Journal::open(disk)
    }

    fn row(number: usize) -> (usize, String) {
        (number, format!("match \"{number}\"\nends äöü"))
    }

    fn bytes(journal: &Journal<Disk>) -> Vec<u8> {
        journal.lines.storage.file.get_ref().clone()
    }

    /// A journal with a header and three rows, and where each line ends.
    fn journal_of_three() -> (Vec<u8>, Vec<usize>) {
        let (mut journal, contents) = open(Disk::with(b"")).expect("an empty file");
        assert_eq!(contents, None);
        journal.append(&"header").expect("room");
        let mut ends = vec![bytes(&journal).len()];
        for number in 0..3 {
            journal.append(&row(number)).expect("room");
            ends.push(bytes(&journal).len());
        }
        (bytes(&journal), ends)
    }

    #[test]
    fn a_file_cut_at_any_byte_has_its_whole_rows_and_goes_on() {
        let (whole, ends) = journal_of_three();
        for n_left in 0..=whole.len() {
            let n_lines = ends.iter().filter(|&&end| end <= n_left).count();
            let (mut journal, contents) = open(Disk::with(&whole[..n_left])).expect("a cut file");
            let n_rows = contents.as_ref().map(|contents| contents.rows.len());
            assert_eq!(n_rows, n_lines.checked_sub(1), "cut at {n_left}");
            let n_kept = if n_lines == 0 { 0 } else { ends[n_lines - 1] };
            assert_eq!(bytes(&journal), &whole[..n_kept], "cut at {n_left}");
            let Some(contents) = contents else { continue };
            assert_eq!(contents.header, "header");
            assert_eq!(contents.rows, (0..n_lines - 1).map(row).collect::<Vec<_>>());
            for number in n_lines - 1..3 {
                journal.append(&row(number)).expect("room");
            }
            assert_eq!(bytes(&journal), whole, "cut at {n_left}");
        }
    }

    #[test]
    fn a_changed_byte_is_never_read_as_a_row() {
        let (whole, ends) = journal_of_three();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            match open(Disk::with(&changed)) {
                // Only the last line may be damaged, as if it had been cut. Without its line end, the
                // line before becomes part of it.
                Ok((_, contents)) => {
                    assert!(at + 1 >= ends[2], "byte {at}");
                    let n_rows = if at < ends[2] { 1 } else { 2 };
                    let rows = contents.expect("the header is whole").rows;
                    assert_eq!(rows, (0..n_rows).map(row).collect::<Vec<_>>());
                }
                Err(_) => assert!(at + 1 < ends[2], "byte {at}"),
            }
        }
    }

    #[test]
    fn a_full_disk_leaves_the_rows_before() {
        let (whole, ends) = journal_of_three();
        for room in 1..whole.len() - ends[2] {
            let disk = Disk { max_bytes: ends[2] + room, ..Disk::with(&whole[..ends[2]]) };
            let (mut journal, _) = open(disk).expect("two rows");
            let error = journal.append(&row(2)).expect_err("no room");
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert_eq!(bytes(&journal), &whole[..ends[2]]);
            journal.lines.storage.max_bytes = usize::MAX;
            journal.append(&row(2)).expect("there is room again");
            assert_eq!(bytes(&journal), whole);
        }
    }

    #[test]
    fn other_files_are_refused_and_left_as_they_are() {
        for text in ["(role p)\n", "{\"sha256\":1}\nmore\n", "\n\n"] {
            assert!(open(Disk::with(text.as_bytes())).is_err(), "{text:?}");
        }
        let (mut journal, _) = open(Disk::with(b"")).expect("an empty file");
        journal.append(&7).expect("room");
        let foreign = open(Disk::with(&bytes(&journal)));
        assert!(matches!(foreign, Err(JournalError::Foreign { line: 1 })));
    }
}
