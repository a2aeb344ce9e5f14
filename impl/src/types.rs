//! The small words of the protocol, each a type of its own so that they cannot be mixed up.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

number!(
    /// Position of a record in the log. A log end offset (LEO) and a high watermark (HW) are
    /// exclusive: the offset of the *next* record. On the wire: `i64`, −1 for "undefined"; in
    /// memory "undefined" is `None`, so an `Offset` is never negative.
    Offset(u64)
);
number!(
    /// Leader epoch: grows with each leader change. On the wire −1 is "none"; in memory `None`.
    Epoch(i32)
);
number!(
    /// Identity of a broker. A consumer's fetch carries −1 and has no `BrokerId`.
    BrokerId(i32)
);
number!(
    /// One registered life of a broker (KIP-380, KIP-903). Given by the controller, grows
    /// cluster-wide, never issued twice.
    BrokerEpoch(i64)
);
number!(
    /// Version of a partition's registration: grows by one with each change record (K1).
    PartitionEpoch(i32)
);

/// Kafka's error codes, as far as this crate answers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum ErrorCode {
    /// No error.
    None = 0,
    /// OFFSET_OUT_OF_RANGE.
    OffsetOutOfRange = 1,
    /// CORRUPT_MESSAGE.
    CorruptMessage = 2,
    /// UNKNOWN_TOPIC_OR_PARTITION.
    UnknownTopicOrPartition = 3,
    /// NOT_LEADER_OR_FOLLOWER.
    NotLeaderOrFollower = 6,
    /// REQUEST_TIMED_OUT.
    RequestTimedOut = 7,
    /// NOT_ENOUGH_REPLICAS: refused before the append, nothing was written (A3).
    NotEnoughReplicas = 19,
    /// NOT_ENOUGH_REPLICAS_AFTER_APPEND (V3).
    NotEnoughReplicasAfterAppend = 20,
    /// INVALID_REQUIRED_ACKS (A1).
    InvalidRequiredAcks = 21,
    /// NOT_CONTROLLER.
    NotController = 41,
    /// INVALID_REQUEST.
    InvalidRequest = 42,
    /// KAFKA_STORAGE_ERROR (D6).
    KafkaStorageError = 56,
    /// FENCED_LEADER_EPOCH: the request's epoch is older than the receiver's.
    FencedLeaderEpoch = 74,
    /// UNKNOWN_LEADER_EPOCH: the request's epoch is newer than the receiver's.
    UnknownLeaderEpoch = 75,
    /// STALE_BROKER_EPOCH.
    StaleBrokerEpoch = 77,
    /// OFFSET_NOT_AVAILABLE (N2, KIP-207).
    OffsetNotAvailable = 78,
    /// INVALID_UPDATE_VERSION.
    InvalidUpdateVersion = 95,
    /// UNKNOWN_TOPIC_ID.
    UnknownTopicId = 100,
    /// DUPLICATE_BROKER_REGISTRATION (B1).
    DuplicateBrokerRegistration = 101,
    /// INELIGIBLE_REPLICA.
    IneligibleReplica = 107,
    /// NEW_LEADER_ELECTED.
    NewLeaderElected = 108,
}

impl ErrorCode {
    /// The code on the wire.
    pub fn code(self) -> i16 {
        self as i16
    }

    /// The error with this code on the wire, or `None` for a code this crate does not know.
    pub fn from_code(code: i16) -> Option<Self> {
        const ALL: [ErrorCode; 21] = [
            ErrorCode::None,
            ErrorCode::OffsetOutOfRange,
            ErrorCode::CorruptMessage,
            ErrorCode::UnknownTopicOrPartition,
            ErrorCode::NotLeaderOrFollower,
            ErrorCode::RequestTimedOut,
            ErrorCode::NotEnoughReplicas,
            ErrorCode::NotEnoughReplicasAfterAppend,
            ErrorCode::InvalidRequiredAcks,
            ErrorCode::NotController,
            ErrorCode::InvalidRequest,
            ErrorCode::KafkaStorageError,
            ErrorCode::FencedLeaderEpoch,
            ErrorCode::UnknownLeaderEpoch,
            ErrorCode::StaleBrokerEpoch,
            ErrorCode::OffsetNotAvailable,
            ErrorCode::InvalidUpdateVersion,
            ErrorCode::UnknownTopicId,
            ErrorCode::DuplicateBrokerRegistration,
            ErrorCode::IneligibleReplica,
            ErrorCode::NewLeaderElected,
        ];
        ALL.into_iter().find(|e| e.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn every_code_reads_back_as_itself_and_no_other_code_is_known() {
        let known = (i16::MIN..=i16::MAX).filter_map(ErrorCode::from_code);
        let codes: Vec<i16> = known.map(ErrorCode::code).collect();
        assert_eq!(codes.len(), 21);
        for code in codes {
            assert_eq!(ErrorCode::from_code(code).map(ErrorCode::code), Some(code));
        }
    }
}
