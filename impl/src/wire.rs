//! Kafka's own messages, the subset that brokers of this crate speak, with total decoders.
//!
//! Versions: Fetch 15, Produce 9, ListOffsets 7, OffsetForLeaderEpoch 4, AlterPartition 3; request
//! header 2, response header 1. A frame is a 4-byte big-endian length and that many bytes.
//!
//! What a decoder promises for any bytes at all: it never panics, it checks each count and length
//! against the bytes that are left before it allocates, it skips unknown tagged fields within
//! their bounds, and it refuses trailing bytes. Records and strings are borrowed; the arrays around
//! them take at most 22 bytes of memory per byte of the frame, so the receiver's limit of a frame
//! ([`next_frame`]) is also one of memory. "Undefined" is `None` in memory and −1 only here.
//!
//! What an encoder asserts of its caller: an offset fits in an `i64`, a string in 32,767 bytes
//! and a frame in [`MAX_FRAME_BYTES`].

mod alter_partition;
mod epoch_end;
mod error;
mod fetch;
mod fetch_answer;
mod frame;
mod list_offsets;
mod message;
mod part;
mod produce;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use alter_partition::{
    AlterPartition, AlterPartitionRequest, AlterPartitionResponse, AlterTopic, AlteredPartition,
    AlteredTopic, IsrMember, LeaderRecoveryState,
};
pub use epoch_end::{
    AskedEpoch, AskedTopic, EpochEnd, EpochEndAnswer, EpochEndTopic, OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
};
pub use error::{DecodeError, Reason};
pub use fetch::{
    FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, IsolationLevel, ReplicaState,
};
pub use fetch_answer::{
    AbortedTransaction, CurrentLeader, FetchResponse, FetchedPartition, FetchedTopic,
};
pub use frame::{CorrelationId, Cut, MAX_FRAME_BYTES, RequestHeader, TopicId, next_frame};
pub use list_offsets::{
    EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, ListOffsetsRequest, ListOffsetsResponse, ListPartition,
    ListTopic, ListedPartition, ListedTopic,
};
pub use message::{
    Api, Request, RequestMessage, Response, ResponseMessage, decode_request, decode_response,
    encode_request, encode_response,
};
pub use produce::{
    ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic, ProducedPartition,
    ProducedTopic, RecordError,
};
