//! Text as a person must see it. Mirror of `cli/ui/visible_text.ts`; `test/plans/denial_lines.json` holds both to it.

/// C0 and C1 controls, bidirectional controls and marks, zero-width and other invisible characters, line separators, tags.
const INVISIBLE: [(u32, u32); 17] = [
    (0x0, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff9, 0xfffb),
    (0xe0000, 0xe0fff),
];

/// Everything that a terminal would obey or hide is written as `\u{…}`.
pub fn visible_text(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if is_invisible(c) => {
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// The same for text of several lines: line ends and tabs stay.
pub fn visible_lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(visible_text).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_invisible(c: char) -> bool {
    INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}
