//! The workers that search together, and how they find each other.

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use timely::CommunicationConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, allocator};

use crate::hello::{Hello, NoHello};
use crate::hosts::Hosts;
use crate::net::{Link, Net};
use crate::watch::{Trouble, Watch};

/// Between two tries to reach a process.
const PAUSE: Duration = Duration::from_millis(50);

/// Who connects and says nothing is left after this.
const SILENT: Duration = Duration::from_secs(5);

/// Workers that are connected and ready to search once.
pub struct Team {
    pub(crate) builders: Vec<AllocatorBuilder>,
    pub(crate) per_process: usize,
    pub(crate) processes: usize,
    pub(crate) watch: Arc<Watch>,
}

/// How the processes meet.
#[derive(Clone, Debug)]
pub struct Meeting<'a> {
    /// The addresses of all processes, the same for all.
    pub hosts: &'a Hosts,
    /// Which of them this one is, from 0.
    pub process: usize,
    /// Workers of this process, the same number for all.
    pub workers: usize,
    /// All that decides what is searched for, in words; the processes refuse each other if it
    /// differs.
    pub question: &'a str,
    /// How long to wait for the others to be there.
    pub wait: Duration,
    /// A process that is silent for so long is lost.
    pub patience: Duration,
}

/// Why the processes did not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMet {
    /// There is no such process.
    #[error("there is no process {process}: the hosts file has {processes}, counted from 0")]
    NoSuchProcess {
        /// The process.
        process: usize,
        /// How many there are.
        processes: usize,
    },
    /// This process can't be reached.
    #[error(
        "cannot listen on {address}: {why}; is this machine that of process {process}, and the \
         port free?"
    )]
    NotHere {
        /// This process.
        process: usize,
        /// Its address.
        address: String,
        /// What the system said.
        why: String,
    },
    /// Another process is not there.
    #[error(
        "process {process} ({address}) was not met within {seconds} s: {why}; start it, with the \
         same hosts file"
    )]
    NotThere {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// How long it was waited for.
        seconds: u64,
        /// What happened.
        why: String,
    },
    /// Another process is about to do something else.
    #[error(
        "process {process} ({address}) has another {what}: {theirs}, and here {ours}; {remedy}"
    )]
    Differs {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// What differs.
        what: &'static str,
        /// What it is there.
        theirs: String,
        /// What it is here.
        ours: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Two say that they are the same one.
    #[error("two processes say that they are process {process}; give each a number of its own")]
    Taken {
        /// The process.
        process: usize,
    },
    /// The system did not do as it should.
    #[error("the connections can't be used: {0}; start all processes again")]
    Io(String),
}

/// A team that never searched takes leave of the others, who wait for it.
impl Drop for Team {
    fn drop(&mut self) {
        if !self.builders.is_empty() {
            self.watch.trouble(Trouble::Left);
            self.watch.part(false);
        }
    }
}

impl Team {
    /// The workers of this process alone, at least one.
    pub fn alone(workers: usize) -> Self {
        let per_process = workers.max(1);
        let built = CommunicationConfig::Process(per_process).try_build();
        let (builders, _) = built.expect("threads need no connection");
        Self { builders, per_process, processes: 1, watch: Watch::over(None) }
    }

    /// Meets the other processes.
    pub fn meet(meeting: &Meeting<'_>) -> Result<Self, NotMet> {
        let (processes, process) = (meeting.hosts.processes(), meeting.process);
        if process >= processes {
            return Err(NotMet::NoSuchProcess { process, processes });
        }
        if processes == 1 {
            return Ok(Self::alone(meeting.workers));
        }
        let per_process = meeting.workers.max(1);
        let sockets = Door::open(meeting, per_process)?.meet_all()?;
        let io = |error: io::Error| NotMet::Io(error.to_string());
        let watch = Watch::over(Some(Net::new(sockets, meeting.patience).map_err(io)?));
        let beating = Arc::clone(&watch);
        std::thread::spawn(move || beating.net.as_ref().map(Net::beat));
        let Hooks { refill, spill, .. } = Hooks::default();
        let own = allocator::ProcessBuilder::new_typed_vector(per_process, refill, spill);
        let links = Link::all(&watch).map_err(io)?;
        let hooks = Hooks::default();
        let built = initialize_networking_from_sockets(own, links, process, per_process, hooks);
        let (builders, guard) = built.map_err(io)?;
        // Its drop would join threads that end in silence when a connection is lost. Whether all
        // was sent and received is known without it.
        std::mem::forget(guard);
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        Ok(Self { builders, per_process, processes, watch })
    }
}

#[expect(clippy::disallowed_methods, reason = "others take their time to start")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// Where a process waits for others.
struct Door<'a> {
    meeting: &'a Meeting<'a>,
    hello: Hello,
    listener: TcpListener,
    until: Instant,
}

/// The sockets, one for each other process, with its address.
type Sockets = Vec<Option<(String, TcpStream)>>;

impl<'a> Door<'a> {
    fn open(meeting: &'a Meeting<'a>, workers: usize) -> Result<Self, NotMet> {
        let Meeting { hosts, process, question, wait, .. } = *meeting;
        let hello = Hello::new(process, hosts.processes(), workers, question);
        let address = hosts.address(process);
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|why| {
            let (address, why) = (address.to_owned(), why.to_string());
            NotMet::NotHere { process, address, why }
        })?;
        Ok(Self { meeting, hello, listener, until: Instant::now() + wait })
    }

    /// Goes to all before this one, and waits for all after it.
    fn meet_all(&self) -> Result<Sockets, NotMet> {
        let hosts = self.meeting.hosts;
        let mut met: Vec<Option<TcpStream>> = (0..hosts.processes()).map(|_| None).collect();
        for (process, place) in met.iter_mut().enumerate().take(self.meeting.process) {
            *place = Some(self.go_to(process)?);
        }
        while let Some(missing) =
            (self.meeting.process + 1..met.len()).find(|process| met[*process].is_none())
        {
            let (process, socket) = self.wait_for(missing)?;
            if met[process].replace(socket).is_some() {
                return Err(NotMet::Taken { process });
            }
        }
        let with_address = |(n, socket): (usize, Option<TcpStream>)| {
            socket.map(|socket| (hosts.address(n).to_owned(), socket))
        };
        Ok(met.into_iter().enumerate().map(with_address).collect())
    }

    fn not_there(&self, process: usize, why: &impl ToString) -> NotMet {
        NotMet::NotThere {
            process,
            address: self.meeting.hosts.address(process).to_owned(),
            seconds: self.meeting.wait.as_secs(),
            why: why.to_string(),
        }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Connects to a process that waits.
    fn go_to(&self, process: usize) -> Result<TcpStream, NotMet> {
        let address = self.meeting.hosts.address(process);
        loop {
            let tried = self.connect(address);
            match tried {
                Ok(socket) => match self.greet(&socket, self.left()) {
                    Ok(hello) => {
                        self.compare(process, &hello)?;
                        return Ok(socket);
                    }
                    Err(NoHello::Stranger) => {
                        return Err(self.not_there(process, &"something else answers there"));
                    }
                    Err(NoHello::Io(error)) if self.left().is_zero() => {
                        return Err(self.not_there(process, &error));
                    }
                    Err(NoHello::Io(_)) => {}
                },
                Err(error) if self.left().is_zero() => return Err(self.not_there(process, &error)),
                Err(_) => {}
            }
            pause();
        }
    }

    fn connect(&self, address: &str) -> io::Result<TcpStream> {
        let mut last = io::Error::other("its name has no address");
        for place in address.to_socket_addrs()? {
            let tried = TcpStream::connect_timeout(&place, self.left().max(PAUSE));
            match tried {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Waits for one more process. Strangers are sent away.
    fn wait_for(&self, missing: usize) -> Result<(usize, TcpStream), NotMet> {
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    let greeted = socket.set_nonblocking(false).map_err(NoHello::Io);
                    let hello = greeted.and_then(|()| self.greet(&socket, self.left().min(SILENT)));
                    let Ok(hello) = hello else { continue };
                    let process = hello.process as usize;
                    self.compare(process, &hello)?;
                    return Ok((process, socket));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(NotMet::Io(error.to_string())),
            }
            if self.left().is_zero() {
                return Err(self.not_there(missing, &"it did not connect"));
            }
            pause();
        }
    }

    /// Both say who they are.
    fn greet(&self, socket: &TcpStream, wait: Duration) -> Result<Hello, NoHello> {
        socket.set_read_timeout(Some(wait.max(PAUSE)))?;
        self.hello.send(socket)?;
        Hello::receive(socket)
    }

    /// Whether the other one is who it should be, and about to do the same.
    fn compare(&self, process: usize, theirs: &Hello) -> Result<(), NotMet> {
        let ours = &self.hello;
        let hosts = self.meeting.hosts;
        let is_known = process < hosts.processes();
        let address = || if is_known { hosts.address(process) } else { "nowhere" }.to_owned();
        let differs = |what, theirs: &dyn ToString, ours: &dyn ToString, remedy| {
            let (theirs, ours) = (theirs.to_string(), ours.to_string());
            Err(NotMet::Differs { process, address: address(), what, theirs, ours, remedy })
        };
        let is_new = theirs.process != ours.process && theirs.process < ours.processes;
        if theirs.version != ours.version {
            let remedy = "start all processes from the same build";
            differs("version", &theirs.version, &ours.version, remedy)
        } else if theirs.processes != ours.processes {
            let remedy = "start all processes with the same hosts file";
            differs("number of processes", &theirs.processes, &ours.processes, remedy)
        } else if theirs.process as usize != process || !is_new {
            Err(NotMet::Taken { process: theirs.process as usize })
        } else if theirs.workers != ours.workers {
            let remedy = "give all processes the same number";
            differs("number of workers", &theirs.workers, &ours.workers, remedy)
        } else if theirs.question != ours.question {
            let remedy = "start all processes with the same flags";
            differs("question", &quoted(&theirs.question), &quoted(&ours.question), remedy)
        } else {
            Ok(())
        }
    }
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}
