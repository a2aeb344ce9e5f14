//! Wrong usage in one line, for the programs that read traces.

use std::io::Write as _;

/// What a command line parser printed, as one line: what is wrong, the tips, where to look. The
/// usage text is left to `--help`. `asked` is the subcommand, where there is one.
pub fn one_line(program: &str, asked: Option<&str>, printed: &str) -> String {
    let kept = printed.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let kept = kept.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let parts: Vec<&str> = kept.map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect();
    let what = parts.join("; ").replace(":; ", ": ");
    format!("{program}: {what}; see `{} --help`", command(program, asked, printed))
}

/// The program and the subcommands in the usage line: whose help says more. What is said of a
/// value has no such line.
fn command(program: &str, asked: Option<&str>, printed: &str) -> String {
    let Some(usage) = printed.lines().find_map(|line| line.trim().strip_prefix("Usage: ")) else {
        return [Some(program), asked].into_iter().flatten().collect::<Vec<_>>().join(" ");
    };
    let words = usage.split(' ');
    let plain = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let named: Vec<&str> =
        words.take_while(|word| !word.starts_with('-')).take_while(plain).collect();
    named.join(" ")
}

/// A line of diagnosis; who cannot be told is not told, and the exit code says it all the same.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn an_error_with_a_tip_is_one_line() {
        let printed = "error: unexpected argument '--protocl' found\n\n  tip: a similar argument \
                       exists: '--protocol'\n\nUsage: check run --protocol <PROTOCOL>\n\nFor more \
                       information, try '--help'.\n";
        assert_eq!(
            one_line("check", Some("run"), printed),
            "check: unexpected argument '--protocl' found; tip: a similar argument exists: \
             '--protocol'; see `check run --help`"
        );
        let printed = "error: invalid value '0' for '--runs <RUNS>': 0 is not in 1..=99\n\nFor \
                       more information, try '--help'.\n";
        let said = |asked| one_line("check", asked, printed);
        let what = "check: invalid value '0' for '--runs <RUNS>': 0 is not in 1..=99; see";
        assert_eq!(said(Some("bench")), format!("{what} `check bench --help`"));
        assert_eq!(said(None), format!("{what} `check --help`"));
    }
}
