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
}

/// Verdicts by call number. A call without one is allowed.
pub type Verdicts = BTreeMap<u32, (When, Answer)>;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
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
    for (number, (when, with)) in verdicts.iter().filter(|(number, _)| **number < X32_BIT) {
        push(*number, test(when, *with));
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

/// The instructions that allow a call or answer it.
fn test(when: &When, with: Answer) -> Vec<Instruction> {
    let hit = answer(with);
    let allow = answer(libc::SECCOMP_RET_ALLOW);
    match when {
        When::Always => vec![hit],
        When::AnyBit { arg, mask } => vec![low_half(*arg), op(IF_ANY_BIT, *mask, 1, 0), allow, hit],
        When::NotZero { arg } => {
            let high = op(LOAD, AT_ARGS + 8 * u32::from(*arg) + 4, 0, 0);
            let any = |jt| op(IF_ANY_BIT, u32::MAX, jt, 0);
            vec![low_half(*arg), any(3), high, any(1), allow, hit]
        }
        When::ValueAndPointer { arg, value, pointer } => {
            let mut program = vec![low_half(*arg), op(IF_EQUAL, *value, 0, 4)];
            program.extend(test(&When::NotZero { arg: *pointer }, with));
            program
        }
        When::OneOf { arg, values } => choose(*arg, values, &[hit], &[allow]),
        When::NoneOf { arg, values } => choose(*arg, values, &[allow], &[hit]),
        When::Socket { families, netlink } => {
            let inner = choose(2, netlink, &[allow], &[hit]);
            let others: Vec<u32> =
                families.iter().copied().filter(|family| *family != libc::AF_NETLINK.cast_unsigned()).collect();
            let outer = choose(0, &others, &[allow], &[hit]);
            // Netlink goes on to the protocols, which stand last.
            let mut program = vec![low_half(0), op(IF_EQUAL, libc::AF_NETLINK.cast_unsigned(), outer.len() as u8, 0)];
            program.extend(outer);
            program.extend(inner);
            program
        }
    }
}

/// `found` when the register is one of the values, else `missed`; each is one instruction that returns.
fn choose(arg: u8, values: &[u32], found: &[Instruction; 1], missed: &[Instruction; 1]) -> Vec<Instruction> {
    let mut program = vec![low_half(arg)];
    for (index, value) in values.iter().enumerate() {
        // Past the comparisons that are left and `missed`.
        program.push(op(IF_EQUAL, *value, (values.len() - index) as u8, 0));
    }
    program.extend(missed);
    program.extend(found);
    program
}

#[cfg(test)]
pub mod emulator;
