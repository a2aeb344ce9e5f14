//! What a node cannot make sense of, and what its disk refuses.

use super::peer::Peer;
use crate::log::LogError;
use crate::log::batch::BatchError;
use crate::wire::{Api, CorrelationId, DecodeError};

/// Most partitions in one request: an answer names each, and must stay within a frame.
pub(super) const MAX_PARTITIONS: usize = 1000;

/// An error of a node. But for [`NodeError::CorruptBatch`] and [`NodeError::Storage`] nothing was
/// changed by what caused it.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// A frame that is no message. The connection should be closed.
    #[error("frame from {peer}: {error}")]
    Undecodable {
        /// The sender.
        peer: Peer,
        /// Message, field, byte and reason.
        error: DecodeError,
    },
    /// A response to nothing that was asked of this peer. The connection should be closed.
    #[error("response from {peer}: no request with correlation id {correlation_id} is waiting")]
    Unasked {
        /// The sender.
        peer: Peer,
        /// The id in the response.
        correlation_id: CorrelationId,
    },
    /// A response that does not answer what was asked. The connection should be closed.
    #[error("response from {peer} with correlation id {correlation_id} {reason}")]
    Unanswered {
        /// The sender.
        peer: Peer,
        /// The id in the response.
        correlation_id: CorrelationId,
        /// What it lacks.
        reason: &'static str,
    },
    /// A request that belongs to a broker came to a controller.
    #[error("request from {peer}: {api:?} is not for a controller")]
    Misplaced {
        /// The sender.
        peer: Peer,
        /// The request.
        api: Api,
    },
    /// A request names more partitions than a node of one partition answers for.
    #[error("request from {peer}: {count} partitions, at most {} are answered", MAX_PARTITIONS)]
    TooMany {
        /// The sender.
        peer: Peer,
        /// Partitions in the request.
        count: usize,
    },
    /// Record batches in an answer to a fetch are damaged (B111). Nothing was appended; the core
    /// was told so and asks again.
    #[error("records from {peer}: at byte {position} expected {error}")]
    CorruptBatch {
        /// The sender.
        peer: Peer,
        /// Byte in the records.
        position: u64,
        /// What is wrong.
        error: BatchError,
    },
    /// The disk failed, or what it holds is damaged.
    #[error(transparent)]
    Storage(#[from] LogError),
}
