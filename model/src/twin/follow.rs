//! Becoming a follower, and where its log is cut.

use super::{Guard, Id, Said, State, Twin};

/// A request that is news to a replica and names another leader.
struct News {
    epoch: u8,
    said: Said,
    leader: Id,
    id: Id,
}

/// Every news there is.
fn news(state: &State) -> Vec<News> {
    let mut all = Vec::new();
    for (epoch, &said) in (0..).zip(&state.requests) {
        let Some(leader) = said.leader else { continue };
        let others = state.ids().filter(|id| *id != leader);
        let behind = others.filter(|id| state.replica(*id).epoch < Some(epoch));
        all.extend(behind.map(|id| News { epoch, said, leader, id }));
    }
    all
}

/// The replica follows, and cuts its log at `to`. It cannot if its log ends before.
fn follow_and_cut(state: &State, news: &News, to: u8, each: &mut dyn FnMut(State)) {
    if to <= state.replica(news.id).end() {
        each(state.with(news.id, |replica| {
            replica.cut(to);
            replica.take(news.epoch, news.said);
        }));
    }
}

/// KafkaTruncateToHighWatermark: at its own high watermark.
pub fn cut_at_hw(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        follow_and_cut(state, &news, state.replica(news.id).hw, each);
    }
}

/// Kip101: where the leader's log has its first larger epoch, or at its end if it ends with the
/// follower's epoch. As published, a follower that is behind in the leader's epoch cannot follow.
pub fn cut_by_epoch(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        let (replica, leader) = (state.replica(news.id), state.replica(news.leader));
        let to = match (replica.log.last(), leader.log.last()) {
            (None, _) => 0,
            (Some(_), None) => replica.hw,
            (Some(own), Some(last)) if last.epoch == own.epoch => leader.end(),
            (Some(own), Some(_)) => {
                let larger = leader.log.iter().position(|record| record.epoch > own.epoch);
                larger.map_or(replica.hw, |offset| offset as u8)
            }
        };
        follow_and_cut(state, &news, to, each);
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
        if state.replica(news.id).log.is_empty() {
            follow_and_cut(state, &news, 0, each);
        }
        follow_and_cut(state, &news, common_end(state, news.leader, news.id), each);
    }
}

/// Kip320: as Kip279, but only from a leader that is in the very epoch of the request.
pub fn cut_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        let fenced =
            state.presumes(news.leader) && state.replica(news.leader).epoch == Some(news.epoch);
        if fenced || !twin.guards(Guard::FenceTruncate) {
            follow_and_cut(state, &news, common_end(state, news.leader, news.id), each);
        }
    }
}

/// Kip320FirstTry: nothing is cut yet.
pub fn follow(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for news in news(state) {
        follow_and_cut(state, &news, state.replica(news.id).end(), each);
    }
}
