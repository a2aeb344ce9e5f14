//! Produce, version 9.

use super::error::DecodeError;
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{ErrorCode, Offset};

/// A client's wish to append; the records are borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceRequest<'a> {
    /// Transaction that the records belong to.
    pub transactional_id: Option<&'a str>,
    /// −1 for all, 0 or 1. Other values are legal bytes and are refused by rule A1.
    pub acks: i16,
    /// How long the leader may wait for the in-sync replicas, in milliseconds (V4).
    pub timeout_ms: i32,
    /// What to append.
    pub topics: Vec<ProduceTopic<'a>>,
}

/// What to append to one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceTopic<'a> {
    /// Name of the topic.
    pub name: &'a str,
    /// Its partitions.
    pub partitions: Vec<ProducePartition<'a>>,
}

/// What to append to one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProducePartition<'a> {
    /// Index in the topic.
    pub partition: i32,
    /// Record batches.
    pub records: Option<&'a [u8]>,
}

/// Answer to a [`ProduceRequest`] with acks other than 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceResponse<'a> {
    /// What was appended.
    pub topics: Vec<ProducedTopic<'a>>,
    /// How long the requester should hold back, in milliseconds.
    pub throttle_time_ms: i32,
}

/// What was appended to one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducedTopic<'a> {
    /// Name of the topic.
    pub name: &'a str,
    /// Its partitions.
    pub partitions: Vec<ProducedPartition<'a>>,
}

/// What became of the records for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducedPartition<'a> {
    /// Index in the topic.
    pub partition: i32,
    /// Why the records are not known to be committed, or none.
    pub error: ErrorCode,
    /// Offset of the first record appended, `None` if none was.
    pub base_offset: Option<Offset>,
    /// When the broker appended, in milliseconds; `None` unless it stamps the records.
    pub log_append_time_ms: Option<i64>,
    /// First offset of the log.
    pub log_start_offset: Option<Offset>,
    /// Batches that were refused.
    pub record_errors: Vec<RecordError<'a>>,
    /// The error in words.
    pub error_message: Option<&'a str>,
}

/// One batch that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordError<'a> {
    /// Index of the batch in the request.
    pub batch_index: i32,
    /// The reason in words.
    pub message: Option<&'a str>,
}

impl<'a> Part<'a> for ProduceRequest<'a> {
    const MIN: usize = 9;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let request = Self {
            transactional_id: reader.nullable_string("transactional_id")?,
            acks: reader.int16("acks")?,
            timeout_ms: reader.int32("timeout_ms")?,
            topics: reader.array("topic_data")?,
        };
        reader.no_tags()?;
        Ok(request)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.nullable_string(self.transactional_id);
        writer.int16(self.acks);
        writer.int32(self.timeout_ms);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ProduceTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic =
            Self { name: reader.string("name")?, partitions: reader.array("partition_data")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.name);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ProducePartition<'a> {
    const MIN: usize = 6;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let partition =
            Self { partition: reader.int32("index")?, records: reader.nullable_bytes("records")? };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.nullable_bytes(self.records);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ProduceResponse<'a> {
    const MIN: usize = 6;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let response = Self {
            topics: reader.array("responses")?,
            throttle_time_ms: reader.int32("throttle_time_ms")?,
        };
        reader.no_tags()?;
        Ok(response)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.array(&self.topics);
        writer.int32(self.throttle_time_ms);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ProducedTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic =
            Self { name: reader.string("name")?, partitions: reader.array("partition_responses")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.name);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ProducedPartition<'a> {
    const MIN: usize = 33;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("index")?,
            error: reader.error_code("error_code")?,
            base_offset: reader.maybe_offset("base_offset")?,
            log_append_time_ms: reader.maybe_time_ms("log_append_time_ms")?,
            log_start_offset: reader.maybe_offset("log_start_offset")?,
            record_errors: reader.array("record_errors")?,
            error_message: reader.nullable_string("error_message")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.error_code(self.error);
        writer.offset(self.base_offset);
        writer.int64(self.log_append_time_ms.unwrap_or(-1));
        writer.offset(self.log_start_offset);
        writer.array(&self.record_errors);
        writer.nullable_string(self.error_message);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for RecordError<'a> {
    const MIN: usize = 6;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let error = Self {
            batch_index: reader.int32("batch_index")?,
            message: reader.nullable_string("batch_index_error_message")?,
        };
        reader.no_tags()?;
        Ok(error)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.batch_index);
        writer.nullable_string(self.message);
        writer.no_tags();
    }
}
