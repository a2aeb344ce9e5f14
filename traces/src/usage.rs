//! Wrong usage in one line, for the programs that read traces.

/// What a command line parser printed, as one line: what is wrong, the tips, where to look. The
/// usage text is left to `--help`.
pub fn one_line(program: &str, printed: &str) -> String {
    let kept = printed.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let kept = kept.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let parts: Vec<&str> = kept.map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect();
    let what = parts.join("; ").replace(":; ", ": ");
    format!("{program}: {what}; see `{program} --help`")
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
            one_line("check", printed),
            "check: unexpected argument '--protocl' found; tip: a similar argument exists: \
             '--protocol'; see `check --help`"
        );
    }
}
