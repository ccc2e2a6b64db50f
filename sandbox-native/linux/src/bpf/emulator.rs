//! Runs a filter as the kernel would, to see what it answers.

use super::{
    AND, AT_ARCH, AT_ARGS, AT_NUMBER, IF_ANY_BIT, IF_AT_LEAST, IF_EQUAL, Instruction, JUMP, LOAD, NATIVE_ARCH, RETURN,
};

/// The answer to a call of this machine's architecture.
pub fn answer_to(program: &[Instruction], number: i64, args: [u64; 6]) -> u32 {
    run(program, NATIVE_ARCH, number as u32, args)
}

/// The answer to any call. A program that runs off its end or holds another instruction panics.
pub fn run(program: &[Instruction], arch: u32, number: u32, args: [u64; 6]) -> u32 {
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let op = program[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { op.jt } else { op.jf });
        match u32::from(op.code) {
            LOAD => {
                value = match op.k {
                    AT_NUMBER => number,
                    AT_ARCH => arch,
                    place => {
                        let place = (place - AT_ARGS) as usize;
                        (args[place / 8] >> (8 * (place % 8))) as u32
                    }
                }
            }
            IF_EQUAL => at += jump(value == op.k),
            IF_AT_LEAST => at += jump(value >= op.k),
            IF_ANY_BIT => at += jump(value & op.k != 0),
            AND => value &= op.k,
            JUMP => at += op.k as usize,
            RETURN => return op.k,
            code => panic!("instruction {code:#x} is not one of ours"),
        }
    }
}
