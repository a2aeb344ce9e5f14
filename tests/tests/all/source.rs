//! Rust sources as text: which lines are tests, and what is left without comments and strings.

/// Whether a file holds nothing but tests, benches or examples.
pub fn is_test_file(name: &str) -> bool {
    let folder = |f: &str| name.contains(&format!("/{f}/"));
    let file = name.rsplit('/').next().unwrap_or(name);
    let tests_in_src = name.contains("/src/") && folder("tests");
    let outside_src = !name.contains("/src/") && ["tests", "benches"].into_iter().any(folder);
    tests_in_src || outside_src || file == "tests.rs" || file.ends_with("_tests.rs")
}

/// The lines that are no test, with their numbers from 1. A test is a module with a body behind
/// `#[cfg(test)]`.
pub fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some(end) = end_of_test(&lines, at) {
            at = end;
        } else {
            kept.push((at + 1, lines[at]));
            at += 1;
        }
    }
    kept
}

/// The line behind the test module that starts at line `at`, if one does.
fn end_of_test(lines: &[&str], at: usize) -> Option<usize> {
    if lines[at].trim() != "#[cfg(test)]" {
        return None;
    }
    let after = lines[at + 1..].iter().position(|l| !l.trim().starts_with("#["))?;
    let head = at + 1 + after;
    let text = lines[head].trim();
    let is_module = text.starts_with("mod ") || text.starts_with("pub(crate) mod ");
    if !is_module || !text.ends_with('{') {
        return None;
    }
    let indent = &lines[head][..lines[head].len() - lines[head].trim_start().len()];
    let close = format!("{indent}}}");
    let body = lines[head..].iter().position(|l| *l == close)?;
    Some(head + body + 1)
}

/// The text with comments, and the contents of strings, turned into blanks; lines stay lines.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_blank(&chars, at);
        if end == at {
            code.push(chars[at]);
            at += 1;
        } else {
            let blank = |c: &char| if *c == '\n' { '\n' } else { ' ' };
            code.extend(chars[at..end].iter().map(blank));
            at = end;
        }
    }
    code
}

/// Where the comment, string or character that starts at `at` ends; `at` if none does.
fn end_of_blank(chars: &[char], at: usize) -> usize {
    let next = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let find = |from: usize, what: &dyn Fn(usize) -> bool| {
        (from..chars.len()).find(|i| what(*i)).unwrap_or(chars.len())
    };
    let before = if at == 0 { ' ' } else { chars[at - 1] };
    let starts_word = !(before.is_alphanumeric() || before == '_');
    match (chars[at], next(at + 1)) {
        ('/', '/') => find(at, &|i| chars[i] == '\n'),
        ('/', '*') => {
            (find(at + 2, &|i| chars[i] == '*' && next(i + 1) == '/') + 2).min(chars.len())
        }
        ('r', '"' | '#') if starts_word => end_of_raw(chars, at),
        ('b', 'r') if starts_word && matches!(next(at + 2), '"' | '#') => end_of_raw(chars, at + 1),
        ('"', _) => end_of_quoted(chars, at, '"'),
        ('\'', c) if c == '\\' || next(at + 2) == '\'' => end_of_quoted(chars, at, '\''),
        _ => at,
    }
}

fn end_of_quoted(chars: &[char], at: usize, quote: char) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The end of a raw string whose `r` stands at `at`; `at` if it is only a raw name.
fn end_of_raw(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let closes = |i: usize| {
        chars[i] == '"'
            && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    let close = (open + 1..chars.len()).find(|i| closes(*i));
    close.map_or(chars.len(), |i| i + 1 + hashes)
}

/// The words of a code (names and keywords) with the numbers of their lines.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().flat_map(move |(i, line)| {
        let words = line.split(move |c| !is_word(c));
        words.filter(|w| !w.is_empty()).map(move |w| (i + 1, w))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_module_is_left_out_and_what_follows_is_not() {
        let text = "fn a() {\n}\n\n#[cfg(test)]\n#[path = \"x.rs\"]\n\
                    mod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        let kept: Vec<usize> = without_tests(text).iter().map(|l| l.0).collect();
        assert_eq!(kept, [1, 2, 3, 10]);
        let elsewhere = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(without_tests(elsewhere).len(), 3);
    }

    #[test]
    fn files_of_tests_are_told_by_their_place() {
        for name in [
            "impl/src/log/tests/suite.rs",
            "impl/src/log/tests.rs",
            "traces/src/trace_tests.rs",
            "tests/tests/all/main.rs",
            "tests/benches/replay.rs",
        ] {
            assert!(is_test_file(name), "{name}");
        }
        for name in ["tests/src/adapter/bag.rs", "model/src/row.rs", "model/examples/size.rs"] {
            assert!(!is_test_file(name), "{name}");
        }
    }

    #[test]
    fn only_code_is_code() {
        let text = "use a; // fs\n/* fs\nfs */ let s = \"fs \\\" fs\"; \
                    let c = '\"'; let r = r#\"fs \" fs\"#;\nfn f<'a>(x: &'a str) { fs }\n";
        let code = code_only(text);
        let found: Vec<_> = words(&code).filter(|w| w.1 == "fs").collect();
        assert_eq!(found, [(4, "fs")]);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(words(&code_only("let fr = br\"fs\";")).count(), 2);
        assert_eq!(words(&code_only("for r in r#type {}")).count(), 5);
    }
}
