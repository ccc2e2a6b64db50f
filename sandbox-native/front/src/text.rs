//! Text of bounded length in memory of the caller's.

/// Bytes that are written one after the other. Full is full: what does not fit is not written at all.
pub struct Text<'a> {
    space: &'a mut [u8],
    len: usize,
}

impl Text<'_> {
    /// Empty.
    pub fn new(space: &mut [u8]) -> Text<'_> {
        Text { space, len: 0 }
    }

    /// Everything that was written.
    pub fn as_bytes(&self) -> &[u8] {
        self.space.get(..self.len).unwrap_or_default()
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.len.checked_add(bytes.len())?;
        self.space.get_mut(self.len..end)?.copy_from_slice(bytes);
        self.len = end;
        Some(())
    }

    /// Appends a number in decimal digits.
    pub fn push_number(&mut self, number: u64) -> Option<()> {
        let mut digits = [0_u8; 20];
        let mut rest = number;
        let mut first = digits.len();
        for (at, digit) in digits.iter_mut().enumerate().rev() {
            // A remainder of ten fits.
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            first = at;
            if rest == 0 {
                break;
            }
        }
        self.push(digits.get(first..)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let mut space = [0; 5];
        let mut text = Text::new(&mut space);
        assert_eq!(text.push(b"abc"), Some(()));
        assert_eq!(text.push(b"def"), None);
        assert_eq!(text.push_number(70), Some(()));
        assert_eq!(text.push_number(0), None);
        assert_eq!(text.as_bytes(), b"abc70");
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 4_294_967_295, u64::MAX] {
            let mut space = [0; 20];
            let mut text = Text::new(&mut space);
            assert_eq!(text.push_number(number), Some(()));
            assert_eq!(text.as_bytes(), number.to_string().as_bytes());
        }
    }
}
