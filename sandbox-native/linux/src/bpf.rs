//! Assembles a seccomp filter from verdicts by call number: a binary search over ranges of numbers, because the kernel
//! runs the filter once for every number when it is loaded (`seccomp_cache_prepare`) and for every call that it can't
//! know to be allowed. A chain of comparisons of the same rules loads ten times as slow.

use std::collections::BTreeMap;

/// One instruction, laid out as `struct sock_filter`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    code: u16,
    jt: u8,
    jf: u8,
    k: u32,
}

/// What a filter answers: a `SECCOMP_RET_*` value.
pub type Answer = u32;

/// When a call that has a verdict gets its answer. Values are compared with the low 32 bits of a register: the arguments
/// that matter are ints, and the kernel ignores the rest of them (CVE-2019-10063).
#[derive(Clone, Debug)]
pub enum When {
    Always,
    /// One of these bits is set.
    AnyBit {
        arg: u8,
        mask: u32,
    },
    /// Any of the 64 bits is set.
    NotZero {
        arg: u8,
    },
    /// The value is one of these.
    OneOf {
        arg: u8,
        values: Vec<u32>,
    },
    /// The value is none of these.
    NoneOf {
        arg: u8,
        values: Vec<u32>,
    },
    /// The low half of one register is this value, and the 64 bits of another are not zero.
    ValueAndPointer {
        arg: u8,
        value: u32,
        pointer: u8,
    },
    /// socket(2) of another family than these, or of netlink with another protocol than these.
    Socket {
        families: Vec<u32>,
        netlink: Vec<u32>,
    },
    /// One register is this value, and another is one of these (`listed`) or none of them.
    Given {
        arg: u8,
        value: u32,
        of: u8,
        values: Vec<u32>,
        listed: bool,
    },
    /// socket(2) of this family and of another type than these.
    SocketType {
        family: u32,
        types: Vec<u32>,
    },
}

/// Verdicts by call number, the first condition that holds decides. A call without one, or that meets none, is allowed.
#[derive(Clone, Default)]
pub struct Verdicts(BTreeMap<u32, Vec<(When, Answer)>>);

impl Verdicts {
    /// Adds a condition behind those that the call has already.
    pub fn push(&mut self, call: libc::c_long, when: When, with: Answer) {
        // System call numbers are small and never negative.
        self.0.entry(call as u32).or_default().push((when, with));
    }

    /// The conditions of a call.
    #[cfg(test)]
    pub fn of(&self, call: u32) -> &[(When, Answer)] {
        self.0.get(&call).map_or(&[], Vec::as_slice)
    }
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// Offsets in `struct seccomp_data`: number, architecture, and from 16 the six registers. Both architectures are
/// little-endian, so the low half of a register comes first.
const AT_NUMBER: u32 = 0;
const AT_ARCH: u32 = 4;
const AT_ARGS: u32 = 16;

/// As `linux/audit.h` has it: the ELF machine, 64 bits, little-endian.
#[cfg(target_arch = "x86_64")]
pub const NATIVE_ARCH: u32 = 0xc000_003e;
/// As `linux/audit.h` has it: the ELF machine, 64 bits, little-endian.
#[cfg(target_arch = "aarch64")]
pub const NATIVE_ARCH: u32 = 0xc000_00b7;

/// Numbers from here up are the x32 ABI: the same calls again under numbers that no rule names.
const X32_BIT: u32 = 0x4000_0000;

const fn op(code: u32, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code: code as u16, jt, jf, k }
}

/// A program that only answers.
pub const fn answer(with: Answer) -> Instruction {
    op(RETURN, with, 0, 0)
}

/// The filter: foreign architectures (32-bit programs) are killed, x32 numbers do not exist.
pub fn assemble(verdicts: &Verdicts) -> Vec<Instruction> {
    let mut program = vec![
        op(LOAD, AT_ARCH, 0, 0),
        op(IF_EQUAL, NATIVE_ARCH, 1, 0),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        op(LOAD, AT_NUMBER, 0, 0),
    ];
    program.extend(search(&leaves(verdicts)));
    program
}

/// The numbers from the first on, to the next leaf's first, and what is done with them.
struct Leaf {
    first: u32,
    code: Vec<Instruction>,
}

fn leaves(verdicts: &Verdicts) -> Vec<Leaf> {
    let allow = || vec![answer(libc::SECCOMP_RET_ALLOW)];
    let mut leaves = vec![Leaf { first: 0, code: allow() }];
    let mut push = |first: u32, code: Vec<Instruction>| {
        // One leaf a number: a leaf at the same first replaces the gap, and a gap of no numbers goes.
        if leaves.last().is_some_and(|last| last.first == first) {
            leaves.pop();
        }
        if leaves.last().is_none_or(|last| last.code != code) {
            leaves.push(Leaf { first, code });
        }
    };
    for (number, conditions) in verdicts.0.iter().filter(|(number, _)| **number < X32_BIT) {
        let code = conditions.iter().rev().fold(allow(), |rest, (when, with)| test(when, answer(*with), rest));
        push(*number, code);
        push(number + 1, allow());
    }
    push(X32_BIT, vec![answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned())]);
    leaves
}

fn search(leaves: &[Leaf]) -> Vec<Instruction> {
    let (below, above) = match leaves {
        [] => return vec![answer(libc::SECCOMP_RET_KILL_PROCESS)],
        [leaf] => return leaf.code.clone(),
        more => more.split_at(more.len() / 2),
    };
    let first = above.first().map_or(u32::MAX, |leaf| leaf.first);
    let below = search(below);
    let mut program = match u8::try_from(below.len()) {
        Ok(length) => vec![op(IF_AT_LEAST, first, length, 0)],
        // Conditional jumps reach 255 instructions.
        Err(_) => vec![op(IF_AT_LEAST, first, 0, 1), op(JUMP, below.len() as u32, 0, 0)],
    };
    program.extend(below);
    program.extend(search(above));
    program
}

fn low_half(arg: u8) -> Instruction {
    op(LOAD, AT_ARGS + 8 * u32::from(arg), 0, 0)
}

fn high_half(arg: u8) -> Instruction {
    op(LOAD, AT_ARGS + 8 * u32::from(arg) + 4, 0, 0)
}

/// The instructions that answer a call with `hit`, or go on with `rest`, which ends in a return on each way. Every jump
/// reaches over a part of them, so a call's conditions must stay below 255 instructions.
fn test(when: &When, hit: Instruction, rest: Vec<Instruction>) -> Vec<Instruction> {
    let over = rest.len() as u8;
    let mut program = match when {
        When::Always => return vec![hit],
        When::AnyBit { arg, mask } => vec![low_half(*arg), op(IF_ANY_BIT, *mask, over, 0)],
        When::NotZero { arg } => {
            let any = |jt| op(IF_ANY_BIT, u32::MAX, jt, 0);
            vec![low_half(*arg), any(over + 2), high_half(*arg), any(over)]
        }
        When::ValueAndPointer { arg, value, pointer } => {
            let inner = test(&When::NotZero { arg: *pointer }, hit, rest.clone());
            vec![low_half(*arg), op(IF_EQUAL, *value, 0, inner.len() as u8)].into_iter().chain(inner).collect()
        }
        When::OneOf { arg, values } => {
            // Past the comparisons that are left and the rest.
            [low_half(*arg)].into_iter().chain(comparisons(values, over)).collect()
        }
        When::NoneOf { arg, values } => {
            let head = [low_half(*arg)].into_iter().chain(comparisons(values, 1));
            return head.chain([hit]).chain(rest).collect();
        }
        When::Socket { families, netlink } => {
            let netlink_family = libc::AF_NETLINK.cast_unsigned();
            let inner = test(&When::NoneOf { arg: 2, values: netlink.clone() }, hit, rest.clone());
            let others = families.iter().copied().filter(|family| *family != netlink_family).collect();
            let outer = test(&When::NoneOf { arg: 0, values: others }, hit, rest);
            // Netlink goes on to the protocols, which stand last.
            let head = vec![low_half(0), op(IF_EQUAL, netlink_family, outer.len() as u8, 0)];
            return head.into_iter().chain(outer).chain(inner).collect();
        }
        When::Given { arg, value, of, values, listed } => {
            let mut inner = vec![low_half(*of)];
            inner.extend(comparisons(values, 1));
            if *listed {
                inner.push(op(JUMP, 1, 0, 0));
            }
            inner.push(hit);
            let head = vec![low_half(*arg), op(IF_EQUAL, *value, 0, inner.len() as u8)];
            return head.into_iter().chain(inner).chain(rest).collect();
        }
        When::SocketType { family, types } => {
            // The flags SOCK_NONBLOCK and SOCK_CLOEXEC stand above the type.
            const TYPE_BITS: u32 = 0xf;
            let mut inner = vec![low_half(1), op(AND, TYPE_BITS, 0, 0)];
            inner.extend(comparisons(types, 1));
            inner.push(hit);
            let head = vec![low_half(0), op(IF_EQUAL, *family, 0, inner.len() as u8)];
            return head.into_iter().chain(inner).chain(rest).collect();
        }
    };
    program.extend(rest);
    if !matches!(when, When::ValueAndPointer { .. }) {
        program.push(hit);
    }
    program
}

/// One comparison a value, each of which jumps past those that are left and `beyond` more.
fn comparisons(values: &[u32], beyond: u8) -> impl Iterator<Item = Instruction> {
    let last = values.len().saturating_sub(1);
    values.iter().enumerate().map(move |(index, value)| op(IF_EQUAL, *value, (last - index) as u8 + beyond, 0))
}

#[cfg(test)]
pub mod emulator;
