//! The channel to the host: one JSON object a line, both ways. Where no host stands above, a console in this process takes
//! the reports.

use crate::direct::Console;
use plan::{Control, Report};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A plan of this size has tens of thousands of mounts: something is wrong.
const LONGEST_LINE_BYTES: usize = 16 << 20;

/// The channel and what was read of it beyond the last whole line.
pub struct Channel {
    socket: OwnedFd,
    pending: Vec<u8>,
    console: Option<Box<OwnConsole>>,
}

/// The console in place of a host. The process that the supervisor starts writes to the other end of the socket.
struct OwnConsole {
    console: RefCell<Console>,
    other_end: OwnedFd,
}

/// What came over the channel.
#[derive(Debug)]
pub enum Received {
    Control(Control),
    /// A line that is no control line, with the parser's words.
    Unusable(String),
    /// Not a whole line yet.
    Nothing,
    /// The host closed it, or died.
    Closed,
}

impl Channel {
    pub fn new(socket: OwnedFd) -> Channel {
        Channel { socket, pending: Vec::new(), console: None }
    }

    /// A channel without a host.
    pub fn to_console(console: Console) -> Result<Channel, Errno> {
        let (socket, other_end) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )?;
        let console = Some(Box::new(OwnConsole { console: RefCell::new(console), other_end }));
        Ok(Channel { socket, pending: Vec::new(), console })
    }

    /// The same channel in the process that the supervisor has started: what it sends goes to the supervisor.
    pub fn for_child(self) -> Channel {
        match self.console {
            Some(own) => Channel::new(own.other_end),
            None => self,
        }
    }

    /// True when no host stands above.
    pub fn has_console(&self) -> bool {
        self.console.is_some()
    }

    /// With a console: takes what the started process has sent, which comes before its end.
    pub fn settle(&mut self) {
        if self.has_console() {
            while matches!(self.fill(), Ok(1..)) {}
            // Reports only: a console gives no orders.
            let _ = self.next();
        }
    }

    /// With a console: the process that a shell knows was killed, so the row stays open, as it does when all are killed.
    pub fn abandon(&self) {
        if let Some(own) = &self.console {
            own.console.borrow_mut().abandon();
        }
    }

    /// The exit code of this process, when the command's own is `code`.
    pub fn exit_code(&self, code: i32) -> i32 {
        self.console.as_ref().map_or(code, |own| own.console.borrow().exit_code(code))
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Reads until a whole line is there.
    pub fn wait(&mut self) -> Received {
        loop {
            match self.next() {
                Received::Nothing => {}
                received => return received,
            }
            match self.fill() {
                Ok(0) => return Received::Closed,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut entry = [rustix::event::PollFd::new(&self.socket, rustix::event::PollFlags::IN)];
                    // A failed poll shows in the read that follows.
                    let _ = rustix::event::poll(&mut entry, None);
                }
                Err(_) => return Received::Closed,
            }
        }
    }

    /// Reads what is there, once. Call it when poll says so, then `next` until it gives `Nothing`.
    pub fn fill(&mut self) -> Result<usize, Errno> {
        // A plan is some 6 KB; a larger buffer costs more to clear than the second read that it saves.
        let mut chunk = [0_u8; 16_384];
        let count = rustix::io::read(&self.socket, &mut chunk)?;
        self.pending.extend_from_slice(chunk.get(..count).unwrap_or_default());
        Ok(count)
    }

    /// The next whole line that was read.
    pub fn next(&mut self) -> Received {
        let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') else {
            let too_long = self.pending.len() > LONGEST_LINE_BYTES;
            return if too_long { Received::Unusable("The line is too long".into()) } else { Received::Nothing };
        };
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        if let Some(own) = &self.console {
            if let Ok(report) = serde_json::from_slice(&line) {
                own.console.borrow_mut().take(report);
            }
            return self.next();
        }
        match serde_json::from_slice(&line) {
            Ok(control) => Received::Control(control),
            Err(error) => Received::Unusable(error.to_string()),
        }
    }

    /// Writes one line. A host that is gone is noticed where the channel is read.
    pub fn send(&self, report: &Report) {
        if let Some(own) = &self.console {
            own.console.borrow_mut().take(report.clone());
            return;
        }
        let Ok(mut line) = serde_json::to_vec(report) else { return };
        line.push(b'\n');
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match rustix::net::send(&self.socket, rest, rustix::net::SendFlags::NOSIGNAL) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut entry = [rustix::event::PollFd::new(&self.socket, rustix::event::PollFlags::OUT)];
                    if rustix::event::poll(&mut entry, None).is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }
}
