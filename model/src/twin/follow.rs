//! Becoming a follower, and where its log is cut.

use super::{Guard, Id, Said, State, Twin, Who};

/// A request that is news to a replica and names another leader.
struct News {
    epoch: u8,
    said: Said,
    leader: Id,
    id: Id,
}

/// All the news there is.
fn for_all_news(state: &State, mut tell: impl FnMut(&News)) {
    for (epoch, said) in state.requests.iter() {
        let Some(leader) = said.leader else { continue };
        for id in state.ids().filter(|id| *id != leader) {
            if state.replica(id).is_news(epoch) {
                tell(&News { epoch, said, leader, id });
            }
        }
    }
}

/// The replica follows, and cuts its log at `to`. It cannot if its log ends before.
fn follow_and_cut(state: &State, news: &News, to: u8, each: &mut impl FnMut(Who, State)) {
    if to <= state.replica(news.id).end() {
        let next = state.with(news.id, |replica| {
            replica.cut(to);
            replica.take(news.epoch, news.said);
        });
        each(Who::FollowerInEpoch(news.id, news.leader, news.epoch), next);
    }
}

/// KafkaTruncateToHighWatermark: at its own high watermark.
pub fn cut_at_hw(state: &State, each: &mut impl FnMut(Who, State)) {
    for_all_news(state, |news| {
        follow_and_cut(state, news, state.replica(news.id).hw, each);
    });
}

/// Kip101: where the leader's log has its first larger epoch, or at its end if it ends with the
/// follower's epoch. As published, a follower that is behind in the leader's epoch cannot follow.
pub fn cut_by_epoch(state: &State, each: &mut impl FnMut(Who, State)) {
    for_all_news(state, |news| {
        let (replica, leader) = (state.replica(news.id), state.replica(news.leader));
        let to = match (replica.log.last(), leader.log.last()) {
            (None, _) => 0,
            (Some(_), None) => replica.hw,
            (Some(own), Some(last)) if last.epoch == own.epoch => leader.end(),
            (Some(own), Some(_)) => {
                let larger = leader.log.records().position(|record| record.epoch > own.epoch);
                larger.map_or(replica.hw, |offset| offset as u8)
            }
        };
        follow_and_cut(state, news, to, each);
    });
}

/// After the last offset at which both logs hold the same record.
#[inline]
pub fn common_end(state: &State, one: Id, other: Id) -> u8 {
    let (one, other) = (state.replica(one).log, state.replica(other).log);
    let same = |end: &u8| one.at(end - 1) == other.at(end - 1);
    (1..=one.end().min(other.end())).rev().find(same).unwrap_or(0)
}

/// Kip279: where the logs part, looked up in the leader's log whatever it believes. As published,
/// an empty log has two ways to follow.
pub fn cut_where_logs_part(state: &State, each: &mut impl FnMut(Who, State)) {
    for_all_news(state, |news| {
        if state.replica(news.id).log.is_empty() {
            follow_and_cut(state, news, 0, each);
        }
        follow_and_cut(state, news, common_end(state, news.leader, news.id), each);
    });
}

/// Kip320: as Kip279, but only from a leader that is in the very epoch of the request.
pub fn cut_fenced(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let leads = |id: Id, epoch| state.presumes(id) && state.replica(id).epoch == Some(epoch);
    for_all_news(state, |news| {
        if twin.lets(Guard::FenceTruncate, leads(news.leader, news.epoch), refused) {
            follow_and_cut(state, news, common_end(state, news.leader, news.id), each);
        }
    });
}

/// Kip320FirstTry: nothing is cut yet.
pub fn follow(state: &State, each: &mut impl FnMut(Who, State)) {
    for_all_news(state, |news| {
        follow_and_cut(state, news, state.replica(news.id).end(), each);
    });
}
