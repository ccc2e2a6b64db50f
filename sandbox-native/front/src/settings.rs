//! What the bundler appends to the front, when all that it depends on is known (`cli/build/front.ts`).

use crate::bare;

/// Texts that end in null, in this order, after the address of eight bytes at which Bun begins.
pub struct Settings {
    /// Tells this executable from any other.
    pub build: &'static [u8],
    /// SHA-256 of the launcher, in hexadecimal digits.
    pub launcher: &'static [u8],
    /// Names of variables, with a null between them.
    pub read: &'static [u8],
}

impl Settings {
    /// `None` where nothing was appended.
    pub fn appended() -> Option<Settings> {
        let whole = bare::appended();
        let (length, rest) = whole.get(ADDRESS_BYTES..)?.split_first_chunk::<4>()?;
        let text = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let mut parts = text.splitn(3, |byte| *byte == 0);
        Some(Settings { build: parts.next()?, launcher: parts.next()?, read: parts.next()? })
    }
}

/// The address comes first: the way to Bun reads it without us.
const ADDRESS_BYTES: usize = 8;
