//! The connections to other processes, watched: whoever is silent for too long is lost.
//!
//! The dataflow engine panics in its own threads when a connection breaks. So it gets streams that
//! do not break: what is wrong is written down for the workers to see, and when they have left the
//! thread that reads ends without a word.
//!
//! On the wire everything is in frames: a byte that tells the kind, four for the length, the rest.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::watch::{Trouble, Watch};

/// Bytes of the dataflow.
const DATA: u8 = 0;
/// A sign of life.
const BEAT: u8 = 1;
/// Nothing more will come, and nothing was wrong.
const DONE: u8 = 2;
/// The sender ends, and says why.
const GIVES_UP: u8 = 3;

/// What is read of a reason, at most.
const REASON: usize = 4096;

/// The connections of a process.
#[derive(Debug)]
pub struct Net {
    peers: Vec<Option<Peer>>,
    /// How long a process may be silent.
    patience: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Directions that are open.
    open: usize,
    /// No more signs of life are wanted.
    ended: bool,
}

#[derive(Debug)]
struct Peer {
    address: String,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    socket: TcpStream,
    done: bool,
}

impl Writer {
    fn send(&mut self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(5 + bytes.len());
        frame.push(kind);
        frame.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        frame.extend_from_slice(bytes);
        self.socket.write_all(&frame)
    }
}

impl Net {
    /// Over these sockets, one for each other process, with its address.
    pub fn new(sockets: Vec<Option<(String, TcpStream)>>, patience: Duration) -> io::Result<Self> {
        let mut peers = Vec::new();
        for socket in sockets {
            let Some((address, socket)) = socket else {
                peers.push(None);
                continue;
            };
            socket.set_nonblocking(false)?;
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(patience))?;
            socket.set_write_timeout(Some(patience))?;
            let writer = Mutex::new(Writer { socket, done: false });
            peers.push(Some(Peer { address, writer }));
        }
        let open = 2 * peers.iter().flatten().count();
        let state = Mutex::new(State { open, ended: false });
        Ok(Self { peers, patience, state, changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peer(&self, n: usize) -> &Peer {
        self.peers[n].as_ref().expect("a process has no connection to itself")
    }

    /// One direction of one connection is closed.
    fn close_one(&self) {
        let mut state = self.state();
        state.open = state.open.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until all connections are closed in both directions. Nothing depends on it any more,
    /// so it is no matter if somebody is lost meanwhile.
    pub fn wait_until_closed(&self, watch: &Watch) {
        let mut state = self.state();
        let step = Duration::from_millis(20);
        let mut waited = Duration::ZERO;
        while state.open > 0 && !watch.is_troubled() && waited < 2 * self.patience {
            let woken = self.changed.wait_timeout(state, step);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            waited += step;
        }
    }

    /// Tells all others that this process ends, and why.
    pub fn give_up(&self, why: &str) {
        let mut cut = why.len().min(REASON);
        while !why.is_char_boundary(cut) {
            cut -= 1;
        }
        for peer in self.peers.iter().flatten() {
            if let Some(mut writer) = try_lock(&peer.writer) {
                // Whoever can't be told notices that the connection is gone.
                let _ = writer.send(GIVES_UP, &why.as_bytes()[..cut]);
                let _ = writer.socket.shutdown(Shutdown::Write);
                writer.done = true;
            }
        }
    }

    /// No more signs of life are sent.
    pub fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Sends signs of life until the end.
    pub fn beat(&self) {
        let mut state = self.state();
        while !state.ended {
            drop(state);
            for peer in self.peers.iter().flatten() {
                // Who is writing gives a sign of life by that; who can't write finds out itself.
                if let Some(mut writer) = try_lock(&peer.writer)
                    && !writer.done
                {
                    let _ = writer.send(BEAT, &[]);
                }
            }
            let woken = self
                .changed
                .wait_timeout_while(self.state(), self.patience / 4, |state| !state.ended);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A stream to one other process, for the dataflow engine.
pub struct Link {
    watch: Arc<Watch>,
    process: usize,
    reader: BufReader<TcpStream>,
    /// Bytes of the frame at hand that were not read.
    left: usize,
}

impl Link {
    /// The stream to each other process, in order.
    pub fn all(watch: &Arc<Watch>) -> io::Result<Vec<Option<Self>>> {
        let Some(net) = &watch.net else { return Ok(Vec::new()) };
        let processes = 0..net.peers.len();
        let link = |n: usize| net.peers[n].as_ref().map(|_| Self::to(watch, n)).transpose();
        processes.map(link).collect()
    }

    fn to(watch: &Arc<Watch>, process: usize) -> io::Result<Self> {
        let net = watch.net.as_ref().expect("a link belongs to a net");
        let writer = net.peer(process).writer.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = BufReader::new(writer.socket.try_clone()?);
        Ok(Self { watch: Arc::clone(watch), process, reader, left: 0 })
    }

    fn net(&self) -> &Net {
        self.watch.net.as_ref().expect("a link belongs to a net")
    }

    fn lose(&self, why: &io::Error) {
        let why = match why.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => "it ended, or closed the connection".to_owned(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("nothing was heard of it for {} s", self.net().patience.as_secs())
            }
            _ => why.to_string(),
        };
        let address = self.net().peer(self.process).address.clone();
        self.watch.trouble(Trouble::Lost { process: self.process, address, why });
    }

    /// Reads what belongs to the dataflow; 0 bytes if nothing more comes.
    fn data(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            let mut head = [0; 5];
            self.reader.read_exact(&mut head)?;
            let [kind, len @ ..] = head;
            let len = u32::from_le_bytes(len) as usize;
            match kind {
                DATA => self.left = len,
                BEAT if len == 0 => {}
                DONE if len == 0 => {
                    self.net().close_one();
                    return Ok(0);
                }
                GIVES_UP if len <= REASON => {
                    let mut why = vec![0; len];
                    self.reader.read_exact(&mut why)?;
                    let (process, why) = (self.process, String::from_utf8_lossy(&why).into_owned());
                    let address = self.net().peer(process).address.clone();
                    self.watch.trouble(Trouble::GaveUp { process, address, why });
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                _ => return Err(io::Error::other("it sent what nobody understands")),
            }
        }
        let most = self.left.min(buffer.len());
        let read = self.reader.read(&mut buffer[..most])?;
        self.left -= read;
        if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.data(buffer).or_else(|error| {
            self.lose(&error);
            // The engine would panic aloud, and take the workers with it.
            self.watch.wait_for_workers();
            std::panic::resume_unwind(Box::new("a connection was lost"))
        })
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.watch.is_troubled() {
            let net = self.net();
            let peer = net.peer(self.process);
            let mut writer = peer.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = writer.send(DATA, bytes);
            drop(writer);
            if let Err(error) = sent {
                self.lose(&error);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Link {
    fn try_clone(&self) -> io::Result<Self> {
        Self::to(&self.watch, self.process)
    }

    fn set_nonblocking(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        if !self.watch.is_troubled() {
            let net = self.net();
            let peer = net.peer(self.process);
            let mut writer = peer.writer.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = writer.send(DONE, &[]);
            let sent = sent.and_then(|()| writer.socket.shutdown(Shutdown::Write));
            writer.done = true;
            drop(writer);
            if let Err(error) = sent {
                self.lose(&error);
            }
            net.close_one();
        }
        Ok(())
    }
}
