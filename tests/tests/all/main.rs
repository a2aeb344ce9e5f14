//! The integration tests of the workspace, in one binary: it links once.
//!
//! | module | asks |
//! |---|---|
//! | [`committed`] | does the real code do what every trace says, on memory and on files? |
//! | [`corrupt`] | is a trace refused in which any one value is another? |
//! | [`header`] | is a trace refused whose header says what its lines do not show? |
//! | [`predicted`] | is a divergence accepted in no other step, field or value than predicted? |
//! | [`doomed`] | do messages called doomed change nothing, and are live ones found out? |
//! | [`walks`] | does the code follow the model where nobody wrote a trace? |
//! | [`exempt`] | which fields of the real state are not compared? |
//! | [`cli`] | what does `conform` print, and with which exit code? |
//! | [`binaries`] | what do `check` and `klog` print, and with which exit code? |
//! | [`long`] | do searches that spill, or go on another day, say the same, and errors why? |
//! | [`across`] | do several processes of `check` say what one says, and miss one that is lost? |
//! | [`dump`] | what does `klog dump-log` show of a whole, a torn and a damaged log? |
//! | [`own_rule`] | is the example of a rule of one's own what its document shows? |
//! | [`documents`] | do the documents say what the code does? |
//! | [`cases`] | is what is said of each public report true, and every test in it there? |
//! | [`schema`] | is the published format of a trace the one the code reads? |
//! | [`dependencies`] | which crate may know which? |
//! | [`clocks`] | does anything that decides read a clock, a random source or a hash order? |
//! | [`tidy`] | are the house rules kept that no compiler checks? |
//!
//! A new module is named here and below; [`support`] finds binaries and traces for it,
//! [`workspace`] finds files and goldens, [`source`] tells code from tests and comments.

mod across;
mod binaries;
mod cases;
mod cli;
mod clocks;
mod committed;
mod corrupt;
mod dependencies;
mod documents;
mod doomed;
mod dump;
mod exempt;
mod header;
mod long;
mod own_rule;
mod predicted;
mod schema;
mod source;
mod support;
mod tidy;
mod walks;
mod workspace;
