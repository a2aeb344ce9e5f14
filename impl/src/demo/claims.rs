//! The demo checks what it says.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

use crate::disk::DiskError;
use crate::node::NodeError;
use crate::types::BrokerId;

/// Why the demo did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Something that the demo says did not happen.
    #[error("claim failed: {claim}: expected {expected}, got {got}")]
    Claim {
        /// What was claimed.
        claim: &'static str,
        /// What should have been.
        expected: String,
        /// What was.
        got: String,
    },
    /// The directory for the logs cannot be used.
    #[error("--dir {}: {problem}; {remedy}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: &'static str,
    },
    /// There is no room for temporary logs.
    #[error("cannot make a temporary directory: {source}; name one with --dir")]
    Temporary {
        /// The system's reason.
        source: io::Error,
    },
    /// A broker's disk failed under it.
    #[error("the disk of broker {broker} failed: {reason}; name a directory with room with --dir")]
    Failed {
        /// Whose.
        broker: BrokerId,
        /// The system's reason.
        reason: String,
    },
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A node failed, or could not read what another sent.
    #[error(transparent)]
    Node(#[from] NodeError),
}

/// Counts what was checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claims {
    pub checked: u32,
}

impl Claims {
    /// Asserts that what was claimed happened.
    pub fn check<T: PartialEq + Debug>(
        &mut self,
        claim: &'static str,
        got: &T,
        expected: &T,
    ) -> Result<(), DemoError> {
        if got != expected {
            let (expected, got) = (format!("{expected:?}"), format!("{got:?}"));
            return Err(DemoError::Claim { claim, expected, got });
        }
        self.checked += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn a_false_claim_is_one_line_that_names_it() {
        let mut claims = Claims::default();
        claims.check("one is one", &1, &1).unwrap();
        let error = claims.check("the follower leads", &Some(1), &None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "claim failed: the follower leads: expected None, got Some(1)"
        );
        assert_eq!(claims.checked, 1);
    }
}
