//! What can go wrong between a step of a trace and the real code.

use std::fmt;

use klog::log::LogError;
use klog::node::NodeError;

/// Why a step could not be taken, or its outcome not be put into the words of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The real cluster is in no state to take this step: nothing to deliver, a dead broker.
    NotEnabled(String),
    /// The real code holds or says something that has no word in a trace, or that contradicts
    /// what it said before. A difference, if one without a field to point at.
    Hidden(String),
    /// The disk or the adapter itself failed.
    Internal(String),
}

impl Fault {
    /// A step that cannot be taken.
    pub(crate) fn not_enabled(what: impl Into<String>) -> Self {
        Self::NotEnabled(what.into())
    }

    /// A difference that no field of a view shows.
    pub(crate) fn hidden(what: impl Into<String>) -> Self {
        Self::Hidden(what.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnabled(what) | Self::Hidden(what) | Self::Internal(what) => f.write_str(what),
        }
    }
}

impl From<NodeError> for Fault {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Storage(error) => error.into(),
            // The frames are the real code's own, so it does not understand itself.
            error => Self::Hidden(error.to_string()),
        }
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self::Internal(error.to_string())
    }
}

/// A number of the real code as the small one that a trace speaks of.
pub(crate) fn small<N>(what: &str, number: N) -> Result<u8, Fault>
where
    N: Copy + fmt::Display + TryInto<u8>,
{
    let too_big = |_| Fault::hidden(format!("{what} {number} does not fit a trace"));
    number.try_into().map_err(too_big)
}
