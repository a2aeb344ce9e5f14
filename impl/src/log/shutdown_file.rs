//! Kafka's `.kafka_cleanshutdown`: a broker that ended in order leaves its broker epoch (D3).
//!
//! The file says that everything written is durable, and that the life it names wrote nothing
//! after it. So it is the last thing a broker writes and the first thing it takes away again
//! (KAFKA-10471): whatever goes wrong in between leaves no file, and no file means unclean.

use serde::Deserialize;

use super::error::LogError;
use crate::disk::Disk;
use crate::types::BrokerEpoch;

/// Name of the file (D3).
pub const SHUTDOWN_FILE: &str = ".kafka_cleanshutdown";

/// The only version there is.
const VERSION: u32 = 0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    version: u32,
    broker_epoch: i64,
}

/// Writes the file, durably and all or nothing (D3).
pub fn write<D: Disk>(disk: &mut D, epoch: BrokerEpoch) -> Result<(), LogError> {
    let text = format!("{{\"version\":{VERSION},\"brokerEpoch\":{epoch}}}");
    Ok(disk.replace(SHUTDOWN_FILE, text.as_bytes())?)
}

/// Reads the file and removes it, durably (D3). `None` if there is none, or if it is damaged: a
/// broker that is not known to have ended in order has not.
pub fn take<D: Disk>(disk: &mut D) -> Result<Option<BrokerEpoch>, LogError> {
    let Some(bytes) = disk.read_file(SHUTDOWN_FILE)? else {
        return Ok(None);
    };
    let epoch = parse(&bytes);
    disk.remove(SHUTDOWN_FILE)?;
    disk.sync_dir()?;
    Ok(epoch)
}

fn parse(bytes: &[u8]) -> Option<BrokerEpoch> {
    let Content { version, broker_epoch } = serde_json::from_slice(bytes).ok()?;
    (version == VERSION && broker_epoch >= 0).then_some(BrokerEpoch(broker_epoch))
}
