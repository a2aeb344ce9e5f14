//! The hosts file: one address a line, in the order of the processes.

/// The addresses of all processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

/// What is wrong with a hosts file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHosts {
    /// A line is no address.
    #[error("line {line}: `{text}` is not HOST:PORT; write it like `10.0.0.1:2101`")]
    NoAddress {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// An address stands there twice.
    #[error(
        "line {line}: `{address}` stands in line {first} already; give each process an address \
         of its own"
    )]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The line where it stands first.
        first: usize,
        /// The address.
        address: String,
    },
    /// There is none.
    #[error("there is no address in it; write HOST:PORT for each process, one a line")]
    Empty,
}

impl Hosts {
    /// Reads the text of a hosts file. Empty lines and what stands behind a `#` are left out.
    pub fn read(text: &str) -> Result<Self, BadHosts> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
            let parts = text.rsplit_once(':');
            let good = |(host, port): (&str, &str)| {
                !host.is_empty() && !host.contains(char::is_whitespace) && is_port(port)
            };
            if !parts.is_some_and(good) {
                return Err(BadHosts::NoAddress { line, text: text.to_owned() });
            }
            if let Some((first, address)) = found.iter().find(|(_, known)| *known == text) {
                let address = (*address).to_owned();
                return Err(BadHosts::Twice { line, first: *first, address });
            }
            found.push((line, text));
        }
        if found.is_empty() {
            return Err(BadHosts::Empty);
        }
        Ok(Self(found.into_iter().map(|(_, address)| address.to_owned()).collect()))
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.0.len()
    }

    /// The address of a process, which is one of them.
    pub fn address(&self, process: usize) -> &str {
        &self.0[process]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_left_out() {
        let hosts = Hosts::read("# ours\n\na:1 # first\n [::1]:2\n").expect("good");
        assert_eq!((hosts.processes(), hosts.address(0), hosts.address(1)), (2, "a:1", "[::1]:2"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let said = |text: &str| Hosts::read(text).expect_err("bad").to_string();
        for bad in ["a", "a:", ":1", "a:0", "a:70000", "a b:1"] {
            let line = format!("line 2: `{bad}` is not HOST:PORT; write it like `10.0.0.1:2101`");
            assert_eq!(said(&format!("x:9\n{bad}\n")), line);
        }
        assert!(said("a:1\n\na:1").starts_with("line 3: `a:1` stands in line 1 already; give"));
        assert!(said("# nothing\n").starts_with("there is no address in it; write"));
    }
}
