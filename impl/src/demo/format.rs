//! The report as text and as JSON.

use std::fmt::{self, Write};

use super::report::{EpochAnswer, Report};

/// The report as one JSON document and a line end.
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string(report).expect("a report is plain data");
    text.push('\n');
    text
}

/// The report for people.
pub fn human(report: &Report) -> String {
    let mut text = String::new();
    let sections = [intro, rounds, lag, shrink, two_judges, acks, verdicts, kip101, epochs, limits];
    for section in sections {
        section(report, &mut text).expect("writing to a string does not fail");
    }
    text
}

fn intro(report: &Report, out: &mut String) -> fmt::Result {
    let min_isr = report.settings.min_isr;
    writeln!(
        out,
        "Partition orders-0 on two brokers, 1 (leader) and 2 (follower), min ISR {min_isr}."
    )?;
    writeln!(out, "The logs are files in Kafka's format. The link is memory; what crosses it are")?;
    writeln!(out, "Kafka's own frames. LEO: offset of the next record. HW: records below it are")?;
    writeln!(out, "committed. ISR: the in-sync replicas.")
}

fn rounds(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "\n1. Rounds: one produce, then one fetch\n")?;
    writeln!(out, "            leader      follower   records    HW in the")?;
    writeln!(out, "  round   LEO    HW    LEO    HW   shipped     response")?;
    for row in &report.rounds {
        let (leader, follower) = (row.leader, row.follower);
        write!(out, "  {:>5} {:>5} {:>5}", row.round, leader.leo, leader.hw)?;
        write!(out, "  {:>5} {:>5}", follower.leo, follower.hw)?;
        writeln!(out, "   {:>7}     {:>8}", row.records_shipped, row.response_hw)?;
    }
    writeln!(
        out,
        "\n  A fetch asks for what comes after the follower's LEO, so it tells the leader what"
    )?;
    writeln!(
        out,
        "  the follower has. The HW is moved before the answer is made; the record in that"
    )?;
    writeln!(out, "  answer is not covered by it yet.")
}

fn lag(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "\n2. Lag: one produce with acks=all, then two fetches\n")?;
    for (number, fetch) in (1..).zip(&report.lag) {
        let (leo, hw) = (fetch.follower.leo, fetch.follower.hw);
        write!(out, "  after fetch {number}: follower LEO {leo}, HW {hw}; ")?;
        writeln!(out, "leader HW {}; records shipped {}", fetch.leader_hw, fetch.records_shipped)?;
    }
    writeln!(
        out,
        "\n  The first fetch ships the record, the second one commits it. Only then is the"
    )?;
    writeln!(out, "  producer answered.")
}

fn shrink(report: &Report, out: &mut String) -> fmt::Result {
    let shrink = &report.shrink;
    writeln!(
        out,
        "\n3. Shrink: the follower of section 1 fetches no more; the limit is 30000 ms\n"
    )?;
    writeln!(out, "  at {}: ISR {:?}, nothing changes", shrink.before.at, shrink.before.isr)?;
    let under = if shrink.under_min_isr { "under the minimum" } else { "not under the minimum" };
    writeln!(out, "  at {}: ISR {:?}, {under}", shrink.at, shrink.isr_after)
}

fn two_judges(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\n4. Two judges, three brokers: 3 does not fetch, 2 fetches and sends no heartbeat\n"
    )?;
    let [all, by_leader, by_controller] = report.two_judges.as_slice() else {
        return Ok(());
    };
    writeln!(out, "  at first                           ISR {all:?}")?;
    writeln!(out, "  the leader removes the laggard     ISR {by_leader:?}")?;
    writeln!(out, "  the controller removes the silent  ISR {by_controller:?}")
}

fn acks(report: &Report, out: &mut String) -> fmt::Result {
    let (all, one) = (report.acks_all, report.acks_one);
    writeln!(out, "\n5. Producing after the shrink of section 3\n")?;
    let (before, after) = (all.hw_before, all.hw_after);
    if all.error == 0 {
        writeln!(
            out,
            "  acks=all: error 0; an ISR of one is enough here; HW {before}, then {after}"
        )?;
    } else {
        write!(out, "  acks=all: error {} NOT_ENOUGH_REPLICAS before the append, ", all.error)?;
        writeln!(out, "nothing written; HW {after}")?;
    }
    write!(out, "  acks=1:   base offset {}, error {}", one.base_offset, one.error)?;
    if all.error == 0 {
        writeln!(out, "; committed at once")
    } else {
        writeln!(out, "; on disk, not committed: the HW stays {after}")
    }
}

fn verdicts(report: &Report, out: &mut String) -> fmt::Result {
    let [not_yet, committed, not_enough] = report.verdicts.as_slice() else {
        return Ok(());
    };
    writeln!(out, "\n6. Three verdicts on a produce with acks=all that waits, min ISR 2\n")?;
    writeln!(out, "  HW below the required offset        {not_yet}  (live in section 2)")?;
    writeln!(out, "  HW there, ISR whole                 {committed}  (live in section 2)")?;
    writeln!(out, "  HW there, ISR shrunk since          {not_enough}")?;
    writeln!(
        out,
        "\n  The third was seen live too, as error 20, but only because the demo held the verdict"
    )?;
    writeln!(
        out,
        "  back until the ISR had shrunk. A server decides after each step, and under the"
    )?;
    writeln!(out, "  minimum the HW stands still, so it does not get there.")
}

fn kip101(report: &Report, out: &mut String) -> fmt::Result {
    let (by_hw, by_epoch) = (report.kip101.hw_truncation, report.kip101.epoch_truncation);
    let (epoch, end) = by_epoch.end_offset;
    writeln!(out, "\n7. KIP-101, scenario 1: the follower restarts, then the leader dies\n")?;
    writeln!(out, "  m1 is committed; m2 is on both brokers: LEO 2 and 2, HW 1 and 1.")?;
    writeln!(out, "  The follower truncates to its HW, leads epoch 1, the old leader follows it:")?;
    writeln!(out, "    records lost: {} (m2, which was not committed yet)", by_hw.lost)?;
    writeln!(
        out,
        "  The KIP's own form has one more fetch, whose answer never arrives: the leader's"
    )?;
    writeln!(out, "  HW is 2, m2 is committed and acknowledged. The same truncation:")?;
    writeln!(out, "    committed records lost: {} (m2)", by_hw.committed_lost)?;
    writeln!(
        out,
        "  The right way, both forms: the leader says that epoch {epoch} ends at {end}; the"
    )?;
    writeln!(out, "  follower truncates to min(2, {end}) and keeps LEO 2:")?;
    writeln!(out, "    records lost: {}", by_epoch.lost)?;
    writeln!(
        out,
        "\n  The demo does the wrong truncation by hand, on the follower's files. No broker of"
    )?;
    writeln!(out, "  klog truncates to its HW when it starts.")
}

fn epochs(report: &Report, out: &mut String) -> fmt::Result {
    let epochs = &report.epochs;
    let entries: Vec<String> =
        epochs.entries.iter().map(|(epoch, start)| format!("({epoch},{start})")).collect();
    let (entries, leo) = (entries.join(" "), epochs.leo);
    writeln!(out, "\n8. Where an epoch ends: epochs with their starts {entries}, LEO {leo}\n")?;
    for EpochAnswer { epoch, answer } in &epochs.answers {
        match answer {
            Some((found, end)) => writeln!(out, "  {epoch:>2} -> ({found},{end})")?,
            None => writeln!(out, "  {epoch:>2} -> none")?,
        }
    }
    writeln!(
        out,
        "\n  The largest epoch not above the one asked for, and its end. To a peer, a broker"
    )?;
    writeln!(out, "  calls an epoch above its newest undefined, here 4.")
}

fn limits(report: &Report, out: &mut String) -> fmt::Result {
    writeln!(out, "\n{} claims checked. Not shown here:\n", report.checked)?;
    writeln!(
        out,
        "  - A timer that wakes up by itself: the demo says when each broker looks at the clock."
    )?;
    writeln!(
        out,
        "  - KIP-101 scenario 2 (logs that part) and the quick change A, B, A of KIP-279."
    )?;
    writeln!(out, "  - A replicated controller (KRaft), and eligible leader replicas (KIP-966).")?;
    writeln!(
        out,
        "  - That acks=all survives failures: both brokers are one process on one machine, with"
    )?;
    writeln!(out, "    one kernel, one page cache and one power line.")
}
