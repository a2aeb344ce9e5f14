//! What Kafka's checkpoint files share: a version line, a count line, then so many lines.

use super::error::LogError;
use crate::disk::Disk;

/// A text file that is being read, line by line.
pub(super) struct Lines<'a> {
    file: String,
    rest: std::slice::Split<'a, u8, fn(&u8) -> bool>,
    line: u64,
    remedy: &'static str,
}

/// Reads `name` as a checkpoint of version 0 whose lines `parse` understands; `parse` says what
/// it expected otherwise. A missing file has no lines. Nothing is allocated by a count.
pub(super) fn read<D: Disk, T>(
    disk: &D,
    name: &str,
    remedy: &'static str,
    mut parse: impl FnMut(&[&str]) -> Result<T, &'static str>,
) -> Result<Vec<T>, LogError> {
    let Some(bytes) = disk.read_file(name)? else {
        return Ok(Vec::new());
    };
    let file = disk.path(name).display().to_string();
    // A file ends with a line end; what follows it is not a line of its own.
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let mut lines = Lines { file, rest: text.split(|b| *b == b'\n'), line: 0, remedy };
    lines.next("version 0", |words| matches!(words, ["0"]).then_some(()))?;
    let count: u64 = lines.next("a count of lines", |words| match words {
        [count] => plain(count),
        _ => None,
    })?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let line = lines.take("another line, by the count")?;
        let words = lines.words(line, "text")?;
        entries.push(parse(&words).map_err(|want| lines.error(want, line))?);
    }
    match lines.rest.next() {
        None => Ok(entries),
        Some(line) => {
            lines.line += 1;
            Err(lines.error("the end, by the count", line))
        }
    }
}

/// Writes a checkpoint of version 0, durably and all or nothing.
pub(super) fn write<D: Disk>(disk: &mut D, name: &str, lines: &[String]) -> Result<(), LogError> {
    let mut text = format!("0\n{}\n", lines.len());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    Ok(disk.replace(name, text.as_bytes())?)
}

/// A number in digits alone, within what Kafka can hold.
pub(super) fn plain<T: TryFrom<u64>>(word: &str) -> Option<T> {
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let number = digits.then(|| word.parse::<i64>().ok())??;
    T::try_from(number.cast_unsigned()).ok()
}

impl<'a> Lines<'a> {
    fn next<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&[&str]) -> Option<T>,
    ) -> Result<T, LogError> {
        let line = self.take(expected)?;
        let words = self.words(line, expected)?;
        parse(&words).ok_or_else(|| self.error(expected, line))
    }

    fn take(&mut self, expected: &'static str) -> Result<&'a [u8], LogError> {
        self.line += 1;
        self.rest.next().ok_or_else(|| self.failed(expected, "the end of the file".to_owned()))
    }

    fn words(&self, line: &'a [u8], expected: &'static str) -> Result<Vec<&'a str>, LogError> {
        let text = std::str::from_utf8(line).map_err(|_| self.error(expected, line))?;
        Ok(text.split(' ').collect())
    }

    fn error(&self, expected: &'static str, line: &[u8]) -> LogError {
        // A damaged file may be one long line; its beginning is enough to know it by.
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        self.failed(expected, format!("{shown:?}"))
    }

    fn failed(&self, expected: &'static str, found: String) -> LogError {
        let (file, line, remedy) = (self.file.clone(), self.line, self.remedy);
        LogError::CorruptText { file, line, expected, found, remedy }
    }
}
