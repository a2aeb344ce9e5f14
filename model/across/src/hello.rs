//! What two processes say to each other before anything else.

use std::io::{self, Read, Write};

const MAGIC: &[u8; 16] = b"levelwise-timely";

/// Grows when processes of two builds would not understand each other.
const VERSION: u32 = 1;

/// A question is cut after so many bytes.
const LONGEST: usize = 1 << 16;

/// Who a process is and what it is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of what is sent.
    pub version: u32,
    /// Which process.
    pub process: u32,
    /// How many processes it knows of.
    pub processes: u32,
    /// How many workers it has.
    pub workers: u32,
    /// What it will search, and for what.
    pub question: String,
}

/// Why there is no hello.
#[derive(Debug)]
pub enum NoHello {
    /// Whoever it is, it is none of us.
    Stranger,
    /// Nothing came.
    Io(io::Error),
}

impl From<io::Error> for NoHello {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Hello {
    /// The question is put before others together with the version of this package.
    pub fn new(process: usize, processes: usize, workers: usize, question: &str) -> Self {
        let question = format!("{}: {question}", env!("CARGO_PKG_VERSION"));
        let mut cut = question.len().min(LONGEST);
        while !question.is_char_boundary(cut) {
            cut -= 1;
        }
        Self {
            version: VERSION,
            process: process as u32,
            processes: processes as u32,
            workers: workers as u32,
            question: question[..cut].to_owned(),
        }
    }

    pub fn send(&self, mut to: impl Write) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        let question = self.question.as_bytes();
        let len = question.len() as u32;
        for word in [self.version, self.process, self.processes, self.workers, len] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(question);
        to.write_all(&bytes)
    }

    pub fn receive(mut from: impl Read) -> Result<Self, NoHello> {
        let mut magic = [0; 16];
        from.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(NoHello::Stranger);
        }
        let mut word = || {
            let mut word = [0; 4];
            from.read_exact(&mut word).map(|()| u32::from_le_bytes(word))
        };
        let [version, process, processes, workers, len] =
            [word()?, word()?, word()?, word()?, word()?];
        if len as usize > LONGEST {
            return Err(NoHello::Stranger);
        }
        let mut question = vec![0; len as usize];
        from.read_exact(&mut question)?;
        let question = String::from_utf8(question).map_err(|_| NoHello::Stranger)?;
        Ok(Self { version, process, processes, workers, question })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_is_read_back_and_a_stranger_is_none() {
        let hello = Hello::new(1, 2, 3, "what?");
        let mut bytes = Vec::new();
        hello.send(&mut bytes).expect("memory");
        assert_eq!(Hello::receive(&bytes[..]).expect("a hello"), hello);
        assert!(matches!(Hello::receive(&bytes[..bytes.len() - 1]), Err(NoHello::Io(_))));
        let stranger = Hello::receive(&b"GET / HTTP/1.1\r\n\r\n"[..]);
        assert!(matches!(stranger, Err(NoHello::Stranger)));
    }
}
