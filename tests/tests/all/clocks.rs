//! Same input, same bytes: nothing that decides reads a clock, waits, draws lots, starts a thread,
//! asks the environment or goes by a hash order, and nothing but the disk touches a file.

use crate::source::{code_only, is_test_file, without_tests, words};
use crate::workspace::{files, read};

/// A way to be different the next time, or to reach outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Clock,
    Wait,
    Chance,
    HashOrder,
    Thread,
    Environment,
    File,
    Socket,
    Process,
}

/// The words of code that give a reach away.
const WORDS: &[(&str, Reach)] = &[
    ("Instant", Reach::Clock),
    ("SystemTime", Reach::Clock),
    ("UNIX_EPOCH", Reach::Clock),
    ("sleep", Reach::Wait),
    ("park_timeout", Reach::Wait),
    ("recv_timeout", Reach::Wait),
    ("wait_timeout", Reach::Wait),
    ("rand", Reach::Chance),
    ("fastrand", Reach::Chance),
    ("getrandom", Reach::Chance),
    ("RandomState", Reach::HashOrder),
    ("HashMap", Reach::HashOrder),
    ("HashSet", Reach::HashOrder),
    ("thread", Reach::Thread),
    ("rayon", Reach::Thread),
    ("env", Reach::Environment),
    ("fs", Reach::File),
    ("File", Reach::File),
    ("OpenOptions", Reach::File),
    ("tempfile", Reach::File),
    ("stdin", Reach::File),
    ("net", Reach::Socket),
    ("TcpListener", Reach::Socket),
    ("TcpStream", Reach::Socket),
    ("UdpSocket", Reach::Socket),
    ("UnixStream", Reach::Socket),
    ("process", Reach::Process),
];

/// What is swept.
const SWEPT: [&str; 3] = ["impl/src/", "model/src/", "traces/src/"];

/// Who may, and why. The first part is the start of a path. An entry that nobody needs fails.
const EXEMPT: &[(&str, Reach, &str)] = &[
    ("impl/src/disk.rs", Reach::File, "names the module of the disk of real files"),
    (
        "impl/src/disk/fs.rs",
        Reach::File,
        "is the disk of real files, the only one who touches them",
    ),
    ("impl/src/demo", Reach::File, "decides nothing: it makes the folder of its logs"),
    ("impl/src/main.rs", Reach::Process, "ends the process with a code"),
    ("model/src/search.rs", Reach::Clock, "hands a search its --max-seconds"),
    ("model/src/search/by_stateright.rs", Reach::Clock, "ends a search at its --max-seconds"),
    (
        "model/src/search/identity.rs",
        Reach::Environment,
        "has the version, which is told when it is compiled",
    ),
    ("model/src/twin/run.rs", Reach::Clock, "measures how long a run took"),
    ("model/src/bench.rs", Reach::Clock, "measures how long a run took"),
    ("model/src/report.rs", Reach::Clock, "measures how long a run took"),
    ("model/src/memory.rs", Reach::File, "reads how much memory the process used"),
    ("model/src/bin/", Reach::Clock, "turns --max-seconds into a deadline"),
    ("model/src/bin/", Reach::Thread, "runs independent searches side by side, and serves a page"),
    ("model/src/bin/", Reach::File, "reads and writes traces"),
    ("model/src/bin/", Reach::Socket, "serves the Explorer"),
    (
        "model/src/bin/check/commands/bench.rs",
        Reach::Environment,
        "finds its own program, to run each case in a process of its own",
    ),
    (
        "model/src/bin/check/main.rs",
        Reach::Environment,
        "reads its arguments again, to name the subcommand whose help says more",
    ),
    ("model/src/bin/", Reach::Process, "ends the process with a code"),
];

/// Every reach in the code of a file, with its line and word.
fn reaches(text: &str) -> Vec<(usize, &'static str, Reach)> {
    let (numbers, lines): (Vec<usize>, Vec<&str>) = without_tests(text).into_iter().unzip();
    let code = code_only(&lines.join("\n"));
    let known = |(line, word): (usize, &str)| {
        let row = WORDS.iter().find(|row| row.0 == word)?;
        Some((numbers[line - 1], row.0, row.1))
    };
    words(&code).filter_map(known).collect()
}

fn swept() -> Vec<String> {
    let mut all = files(".rs");
    all.retain(|f| SWEPT.iter().any(|s| f.starts_with(s)) && !is_test_file(f));
    all
}

#[test]
fn nothing_that_decides_reaches_outside() {
    let mut broken = Vec::new();
    let mut needed = vec![false; EXEMPT.len()];
    for file in swept() {
        for (line, word, reach) in reaches(&read(&file)) {
            let row = EXEMPT.iter().position(|e| file.starts_with(e.0) && e.1 == reach);
            match row {
                Some(row) => needed[row] = true,
                None => broken.push(format!("{file}:{line}: `{word}` ({reach:?})")),
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    for (row, needed) in EXEMPT.iter().zip(needed) {
        assert!(needed, "{} does not need {:?} any more ({})", row.0, row.1, row.2);
    }
}

/// The protocol itself is never in the table above, whatever a row says.
#[test]
fn the_protocol_has_no_exemption() {
    let core = [
        "impl/src/replica",
        "impl/src/controller",
        "impl/src/log",
        "impl/src/wire",
        "impl/src/node",
        "model/src/rules",
        "model/src/broker",
        "model/src/controller",
        "model/src/system",
        "model/src/network",
        "traces/src",
    ];
    let all = swept();
    for part in core {
        assert!(all.iter().any(|f| f.starts_with(part)), "{part} is not swept");
        let exempt = EXEMPT.iter().find(|e| part.starts_with(e.0) || e.0.starts_with(part));
        assert_eq!(exempt, None);
    }
}

#[test]
fn a_planted_reach_is_found() {
    let planted = [
        ("let t = std::time::Instant::now();", Reach::Clock),
        ("use std::time::{Duration, SystemTime};", Reach::Clock),
        ("std::thread::sleep(d);", Reach::Wait),
        ("let x: u8 = rand::random();", Reach::Chance),
        ("let m: HashMap<u8, u8> = HashMap::new();", Reach::HashOrder),
        ("std::thread::spawn(f);", Reach::Thread),
        ("if std::env::var(\"X\").is_ok() {}", Reach::Environment),
        ("std::fs::write(p, b)?;", Reach::File),
        ("let l = TcpListener::bind(a)?;", Reach::Socket),
        ("std::process::exit(1);", Reach::Process),
    ];
    for (line, reach) in planted {
        let text = format!("fn a() {{\n    {line}\n}}\n#[cfg(test)]\nmod t {{\n    {line}\n}}\n");
        let found = reaches(&text);
        assert!(found.iter().any(|f| (f.0, f.2) == (2, reach)), "{line}: {found:?}");
        assert!(found.iter().all(|f| f.0 == 2), "only the code counts: {found:?}");
        assert_eq!(reaches(&format!("// {line}\n/* {line} */\n")), []);
    }
    let harmless = "//! Reads a file.\nfn a(s: &str) -> MemFile { \"std::fs\"; instant() }\n";
    assert_eq!(reaches(harmless), []);
    for (_, reach) in WORDS {
        assert!(planted.iter().any(|p| p.1 == *reach), "{reach:?} is never planted");
    }
}
