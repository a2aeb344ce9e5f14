//! The mutants that are not noticed, each with the reason.
//!
//! Whoever survives although he answers otherwise must stand here, and nobody who is noticed. That
//! a mutant is never asked what it would answer otherwise needs no reason, and may have one.

use self::Worth::{Nothing, Safe, Weak};

/// What a survivor says of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The change makes no difference, since another rule sees to it, or since the case cannot be.
    Nothing,
    /// It makes a difference, and breaks nothing that the protocol promises.
    Safe,
    /// A rule that matters: something should notice, and nothing does yet.
    Weak,
}

/// Mutants, what their survival says, and why they survive.
pub type Row = (&'static [&'static str], Worth, &'static str);

/// Every survivor.
pub const SURVIVORS: &[Row] = &[
    (
        &[
            "hw_at_start/hw/one-less",
            "hw_at_start/hw/zero",
            "hw_at_start/result/one-less",
            "hw_at_start/result/zero",
        ],
        Safe,
        "the high watermark of a follower lags, so a new leader may begin with any lower one; the \
         first fetches of the ISR raise it again",
    ),
    (
        &["follower_hw/result/answered", "follower_hw/own/one-less", "follower_hw/own/zero"],
        Safe,
        "a follower's high watermark goes back to that of a new leader, as in Kafka; only a \
         leader's must not",
    ),
    (
        &["on_diverging/result/cut-later-at-0"],
        Safe,
        "a reader can come before the cut and reads nothing; only a high watermark of another log \
         lets him read what is cut",
    ),
    (
        &["epoch_end/leo/one-more", "diverging/leader.leo/one-more"],
        Nothing,
        "the newest epoch of a leader is its own, and of that no follower has more than it",
    ),
    (
        &["diverging/result.err/zero", "diverging/result.err/other"],
        Nothing,
        "who asks is in the leader's epoch (F1), so that its log holds no newer one",
    ),
    (
        &["cut_on_following/leo/one-more", "cut_on_following/result/one-more"],
        Nothing,
        "a cut past the log end cuts nothing",
    ),
    (
        &["cut_on_diverging/leo/one-more"],
        Nothing,
        "where logs diverge, the cut is below the log end",
    ),
    (
        &["takes/epoch/one-more"],
        Nothing,
        "an answer is made and sent in one step here, so it holds nothing newer than the epoch \
         that was asked in",
    ),
    (
        &["sends_what_was_read/result/not", "sends_what_was_read/result/false"],
        Nothing,
        "see the fault answer-read-at-send",
    ),
    (
        &["told_end/epoch_start/one-more"],
        Safe,
        "a new leader tells the end of its log a record later than it could",
    ),
    (
        &["follower_hw/leo/one-more"],
        Nothing,
        "an answer brings the whole rest of the log, so its high watermark is not past the end",
    ),
    (
        &["joins/join.known.state/active"],
        Nothing,
        "the controller refuses a fenced member too (18.13); the fault join-isr-while-fenced \
         breaks both",
    ),
    (&["reply_is_mine/result/true"], Nothing, "see the fault reply-matched-by-nothing"),
    (
        &[
            "reply_is_mine/of.first/one-more",
            "reply_is_mine/of.first/one-less",
            "reply_is_mine/of.first/zero",
            "reply_is_mine/of.second/one-more",
            "reply_is_mine/of.second/one-less",
            "reply_is_mine/of.second/zero",
            "reply_is_mine/mine.first/one-more",
            "reply_is_mine/mine.first/one-less",
            "reply_is_mine/mine.first/zero",
            "reply_is_mine/mine.second/one-more",
            "reply_is_mine/mine.second/one-less",
            "reply_is_mine/mine.second/zero",
            "reply_is_mine/result/not",
            "reply_is_mine/result/false",
        ],
        Safe,
        "an answer that is not taken for one's own is as good as lost: the proposal is sent again, \
         or the metadata settles it (L2)",
    ),
    (
        &[
            "refused/error/zero",
            "refused/error/other",
            "refused/result/unknown",
            "refused/result/again",
        ],
        Safe,
        "to prove less is safe: whatever is refused is older than a registration whose metadata \
         settles the proposal (L2)",
    ),
    (&["answer_lost/result/unknown"], Nothing, "of a lost answer only a proof is told apart"),
    (
        &["tries_hw_after_refusal/result/not", "tries_hw_after_refusal/result/false"],
        Nothing,
        "a refusal for good is a new version (X6), whose metadata lets it be tried; see the fault \
         no-hw-after-revert",
    ),
    (
        &["tries_hw_on_brokers/result/not", "tries_hw_on_brokers/result/false"],
        Nothing,
        "the shrink task tries it too; the fault no-hw-on-eligibility-change breaks both",
    ),
    (
        &["refuse_proposal/facts.epoch_is_current/true"],
        Nothing,
        "a new leader epoch is a new version too (K1): what is of an older one is refused for its \
         version",
    ),
    (
        &["refuse_proposal/facts.sender_lives/true", "refuse_proposal/facts.sender_leads/true"],
        Nothing,
        "the end of a life or of a reign is a new version: what was proposed before is refused \
         for its version, or gone",
    ),
    (
        &["refuse_proposal/facts.sender_is_member/true"],
        Nothing,
        "a leader never proposes itself out",
    ),
    (
        &["begins_epoch/was/zero", "begins_epoch/now/zero", "begins_epoch/result/true"],
        Nothing,
        "it is asked only where the leader changes",
    ),
    (
        &["may_lead/candidate.isr_is_empty/true"],
        Nothing,
        "nobody of the ELR is active while somebody else is in the ISR, in these scenarios",
    ),
    (
        &[
            "shows_caught_up/offset/one-more",
            "shows_caught_up/leo/one-more",
            "shows_caught_up/leo/one-less",
            "shows_caught_up/leo/zero",
            "shows_caught_up/previous/one-less",
            "shows_caught_up/previous/zero",
            "shows_caught_up/result/not",
            "shows_caught_up/result/true",
        ],
        Weak,
        "who was caught up decides only who is proposed out, which is always safe, and whom \
         the high watermark waits for besides: to be taken for caught up too often or too seldom \
         loses nothing",
    ),
    (
        &[
            "progress_at_start/before.heard/none",
            "progress_at_start/before.heard.caught_up/not",
            "progress_at_start/before.heard.caught_up/true",
            "progress_at_start/before.heard.caught_up/false",
            "progress_at_start/before.heard.previous/none",
            "progress_at_start/before.heard.previous/one-more",
            "progress_at_start/before.heard.previous/one-less",
            "progress_at_start/before.heard.previous/zero",
            "progress_at_start/result.heard/none",
            "progress_at_start/result.heard.caught_up/not",
            "progress_at_start/result.heard.caught_up/true",
            "progress_at_start/result.heard.caught_up/false",
            "progress_at_start/result.heard.previous/none",
            "progress_at_start/result.heard.previous/one-more",
            "progress_at_start/result.heard.previous/one-less",
            "progress_at_start/result.heard.previous/zero",
        ],
        Nothing,
        "what is recent is set anew after it (L3)",
    ),
    (
        &[
            "hw_at_restart/checkpoint/one-less",
            "hw_at_restart/checkpoint/zero",
            "hw_at_restart/leo/one-less",
            "hw_at_restart/leo/zero",
            "hw_at_restart/result/one-less",
            "hw_at_restart/result/zero",
        ],
        Safe,
        "the checkpoint is a hint: a broker that starts may begin with any lower high \
         watermark",
    ),
    (
        &[
            "caught_up/leo/none",
            "caught_up/leo/one-less",
            "caught_up/leo/zero",
            "caught_up/leader/one-more",
            "caught_up/result/false",
        ],
        Weak,
        "see shows_caught_up: to be proposed out without need loses nothing, and nothing asks \
         that nobody is",
    ),
    (
        &["recent_after_setback/result/not", "recent_after_setback/result/true"],
        Safe,
        "see the fault clock-regression-counts-as-fresh",
    ),
];

impl Worth {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Nothing => "no difference",
            Safe => "safe",
            Weak => "WEAK",
        }
    }
}

/// What is said of this mutant's survival, if anything is.
pub fn reason(name: &str) -> Option<&'static Row> {
    SURVIVORS.iter().find(|row| row.0.contains(&name))
}
