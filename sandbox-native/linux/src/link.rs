//! The link between the supervisor and the warden, and between the warden and the command before it is executed.

use crate::exit_code::WaitStatus;
use plan::Report;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One message. Descriptors travel beside the bytes.
pub enum Message {
    /// From the command to the warden: confined, and about to execute; with the listener of its filter, if it has one.
    Confined(Option<OwnedFd>),
    /// The command runs: a descriptor of its process.
    Started(OwnedFd),
    /// A `denial` or `trusted` line for the host.
    Event(Box<Report>),
    /// The same, if its path exists on the host: the warden sees the view only.
    IfOnHost(Box<Report>),
    /// From a child that acts for a caller: it is done, with what it opened.
    Made(Option<OwnedFd>),
    /// The same, with the errno that it ended in.
    Failed(i32),
    /// The command was stopped by this signal.
    Stopped(i32),
    /// The command ended.
    Ended(WaitStatus),
    /// Nothing ran; the line was written.
    Refused,
}

/// Longer than any event: a path has 4 KB, and JSON makes six bytes of one at most.
const LONGEST_MESSAGE_BYTES: usize = 48 << 10;

/// One end. Messages keep their bounds (SOCK_SEQPACKET).
pub struct Link(OwnedFd);

impl Link {
    /// Both ends.
    pub fn pair() -> Result<(Link, Link), Errno> {
        let (one, other) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Link(one), Link(other)))
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Sends a message; the descriptor in it is closed on this side.
    pub fn send(&self, message: &Message) -> Result<(), Errno> {
        let event = |kind: u8, report: &Report| {
            let mut bytes = vec![kind];
            // A report can be written: it has no map with other keys than strings.
            bytes.extend(serde_json::to_vec(report).unwrap_or_default());
            bytes
        };
        let (bytes, fd) = match message {
            Message::Confined(listener) => (vec![b'C'], listener.as_ref()),
            Message::Started(command) => (vec![b'S'], Some(command)),
            Message::Event(report) => (event(b'V', report), None),
            Message::IfOnHost(report) => (event(b'H', report), None),
            Message::Made(file) => (vec![b'M'], file.as_ref()),
            Message::Failed(errno) => ([b'F'].into_iter().chain(errno.to_le_bytes()).collect(), None),
            Message::Stopped(signal) => ([b'T'].into_iter().chain(signal.to_le_bytes()).collect(), None),
            Message::Ended(status) => ([b'E'].into_iter().chain(status.0.to_le_bytes()).collect(), None),
            Message::Refused => (vec![b'R'], None),
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds = fd.map(AsFd::as_fd);
        if let Some(fd) = &fds {
            control.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(fd)));
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).map(drop)
    }

    /// The next message, if there is one now. EAGAIN when there is none, EPIPE when the other end is closed.
    pub fn receive(&self) -> Result<Message, Errno> {
        self.take(RecvFlags::DONTWAIT)
    }

    /// The next message, however long it takes. EPIPE when the other end is closed.
    pub fn wait(&self) -> Result<Message, Errno> {
        loop {
            match self.take(RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                taken => return taken,
            }
        }
    }

    fn take(&self, flags: RecvFlags) -> Result<Message, Errno> {
        let mut bytes = vec![0_u8; LONGEST_MESSAGE_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let (kind, rest) = bytes.get(..received.bytes).and_then(<[u8]>::split_first).ok_or(Errno::PIPE)?;
        let event = || serde_json::from_slice(rest).map_err(|_| Errno::BADMSG);
        match (*kind, fd) {
            (b'C', listener) => Ok(Message::Confined(listener)),
            (b'S', Some(command)) => Ok(Message::Started(command)),
            (b'V', _) => Ok(Message::Event(event()?)),
            (b'H', _) => Ok(Message::IfOnHost(event()?)),
            (b'M', file) => Ok(Message::Made(file)),
            (b'F', _) => Ok(Message::Failed(i32::from_le_bytes(rest.try_into().map_err(|_| Errno::BADMSG)?))),
            (b'T', _) => Ok(Message::Stopped(i32::from_le_bytes(rest.try_into().map_err(|_| Errno::BADMSG)?))),
            (b'E', _) => {
                let status = rest.try_into().map_err(|_| Errno::BADMSG)?;
                Ok(Message::Ended(WaitStatus(i32::from_le_bytes(status))))
            }
            _ => Ok(Message::Refused),
        }
    }

    /// Whether the other end is gone.
    pub fn is_hung_up(&self) -> bool {
        let mut entry = [rustix::event::PollFd::new(&self.0, rustix::event::PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let polled = rustix::event::poll(&mut entry, Some(&now));
        polled.is_err() || entry.iter().any(|e| e.revents().contains(rustix::event::PollFlags::HUP))
    }
}
