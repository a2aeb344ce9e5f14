//! Becoming a follower, and where its log is cut.

use super::{Guard, Id, Said, State, Twin};

/// Each request that is news to a replica and names another leader: epoch, what it says, leader,
/// replica.
fn news(state: &State) -> impl Iterator<Item = (u8, &Said, Id, Id)> {
    let of = move |(epoch, said): (u8, &'_ Said)| {
        let leader = said.leader?;
        Some((epoch, leader))
    };
    (0..)
        .zip(&state.requests)
        .filter_map(move |(epoch, said)| {
            of((epoch, said)).map(|(epoch, leader)| (epoch, said, leader))
        })
        .flat_map(move |(epoch, said, leader)| {
            let others = state.ids().filter(move |id| *id != leader);
            let behind = others.filter(move |id| state.replica(*id).epoch < Some(epoch));
            behind.map(move |id| (epoch, said, leader, id))
        })
}

/// The replica follows, and cuts its log and its high watermark at `to`. It cannot if its log ends
/// before.
fn follow_and_cut(
    state: &State,
    (epoch, said, leader, id): (u8, &Said, Id, Id),
    to: u8,
    each: &mut dyn FnMut(State),
) {
    if to > state.replica(id).end() {
        return;
    }
    each(state.with(id, |replica| {
        replica.log.truncate(to.into());
        replica.hw = replica.hw.min(to);
        replica.epoch = Some(epoch);
        replica.leader = Some(leader);
        replica.isr = said.isr;
    }));
}

/// KafkaTruncateToHighWatermark: at its own high watermark.
pub fn cut_at_hw(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        follow_and_cut(state, news, state.replica(news.3).hw, each);
    }
}

/// Kip101: where the leader's log has its first larger epoch, or at its end if it ends with the
/// follower's epoch. As published, a follower that is behind in the leader's epoch cannot follow.
pub fn cut_by_epoch(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        let (replica, leader) = (state.replica(news.3), state.replica(news.2));
        let to = match (replica.log.last(), leader.log.last()) {
            (None, _) => 0,
            (Some(_), None) => replica.hw,
            (Some(own), Some(last)) if last.epoch == own.epoch => leader.end(),
            (Some(own), Some(_)) => {
                let larger = leader.log.iter().position(|record| record.epoch > own.epoch);
                larger.map_or(replica.hw, |offset| offset as u8)
            }
        };
        follow_and_cut(state, news, to, each);
    }
}

/// After the last offset at which both logs hold the same record.
pub fn common_end(state: &State, one: Id, other: Id) -> u8 {
    let pairs = state.replica(one).log.iter().zip(&state.replica(other).log);
    pairs.enumerate().filter(|(_, (a, b))| a == b).map(|(at, _)| at as u8 + 1).max().unwrap_or(0)
}

/// Kip279: where the logs part, looked up in the leader's log whatever it believes. As published,
/// an empty log has two ways to follow.
pub fn cut_where_logs_part(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        if state.replica(news.3).log.is_empty() {
            follow_and_cut(state, news, 0, each);
        }
        follow_and_cut(state, news, common_end(state, news.2, news.3), each);
    }
}

/// Kip320: as Kip279, but only from a leader that is in the very epoch of the request.
pub fn cut_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        let fenced = state.presumes(news.2) && state.replica(news.2).epoch == Some(news.0);
        if fenced || !twin.guards(Guard::FenceTruncate) {
            follow_and_cut(state, news, common_end(state, news.2, news.3), each);
        }
    }
}

/// Kip320FirstTry: nothing is cut yet.
pub fn follow(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        follow_and_cut(state, news, state.replica(news.3).end(), each);
    }
}
