//! A set of bytes.

/// A bit for each byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of one byte.
    #[must_use]
    pub fn of(byte: u8) -> Self {
        let mut set = Self::default();
        set.add(byte);
        set
    }

    /// Puts a byte in.
    pub fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// True if the byte is in it.
    #[must_use]
    pub fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    /// Number of bytes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if no byte is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes, the least first.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        let set = *self;
        (0..=u8::MAX).filter(move |byte| set.has(*byte))
    }

    /// Its least byte; 0 if it is empty.
    #[must_use]
    pub fn least(&self) -> u8 {
        self.bytes().next().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_in_it_and_nothing_else() {
        let mut set = ByteSet::of(b'a');
        set.add(0xFF);
        assert_eq!(set.bytes().collect::<Vec<_>>(), [b'a', 0xFF]);
        assert_eq!((set.len(), set.least(), set.has(b'b')), (2, b'a', false));
    }
}
