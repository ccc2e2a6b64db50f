//! The link between the supervisor and the process it started: what that one made, and how the command ended.

use crate::exit_code::WaitStatus;
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
    /// The listener of the watch.
    Listener(OwnedFd),
    /// The command runs: a descriptor of its process, and the listener, in one message because each wakes the supervisor.
    Started { command: OwnedFd, listener: Option<OwnedFd> },
    /// The command ended.
    Ended(WaitStatus),
    /// Nothing ran; the line was written.
    Refused,
}

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
        let (kind, status, fds) = match message {
            Message::Listener(listener) => (b'L', 0, [Some(listener), None]),
            Message::Started { command, listener } => (b'S', 0, [Some(command), listener.as_ref()]),
            Message::Ended(status) => (b'E', status.0, [None, None]),
            Message::Refused => (b'R', 0, [None, None]),
        };
        let [a, b, c, d] = status.to_le_bytes();
        let bytes = [kind, a, b, c, d];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<BorrowedFd<'_>> = fds.into_iter().flatten().map(AsFd::as_fd).collect();
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).map(drop)
    }

    /// The next message, if there is one now. EAGAIN when there is none, EPIPE when the other end is closed.
    pub fn receive(&self) -> Result<Message, Errno> {
        let mut bytes = [0_u8; 5];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::net::recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
        if received.bytes == 0 {
            return Err(Errno::PIPE);
        }
        let mut fds = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => fds.collect::<Vec<OwnedFd>>(),
            _ => Vec::new(),
        });
        let [kind, a, b, c, d] = bytes;
        match (kind, fds.next(), fds.next()) {
            (b'L', Some(listener), _) => Ok(Message::Listener(listener)),
            (b'S', Some(command), listener) => Ok(Message::Started { command, listener }),
            (b'E', _, _) => Ok(Message::Ended(WaitStatus(i32::from_le_bytes([a, b, c, d])))),
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
