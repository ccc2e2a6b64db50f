//! What the host is told of the files of a folder.

/// What the host is told, as numbers in linear memory: six at its head, and for each file that there is something to tell of its place in the
/// choice and its number of matches or an [`end`](crate::visit::end). At the head: where to go on or how the tour stands, how many files are
/// told of; of a tour also place and length of the folder's path, and two numbers more.
#[derive(Debug, Default)]
pub struct Report {
    numbers: Vec<i32>,
    path: Vec<u8>,
}

/// Numbers at the head of a report.
pub(crate) const HEAD: usize = 6;

impl Report {
    /// The numbers; those of the head are always there.
    #[must_use]
    pub fn numbers(&self) -> &[i32] {
        &self.numbers
    }

    /// Forgets what was told.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.numbers.resize(HEAD, 0);
    }

    /// Says where to go on, or how a tour stands.
    pub fn close(&mut self, state: usize) {
        self.numbers[0] = number(state);
    }

    /// Says what stands out in a folder that the host is to enter, and the number of its parent.
    pub fn ask(&mut self, seen: u32, parent: Option<u32>) {
        self.numbers.push(number(seen as usize));
        self.numbers.push(parent.map_or(-1, |parent| number(parent as usize)));
    }

    /// Says of which folder all this is.
    pub fn name(&mut self, path: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(path);
        // An address in linear memory of 32 bits; the host takes it for one without a sign.
        self.numbers[2] = self.path.as_ptr() as usize as i32;
        self.numbers[3] = number(self.path.len());
    }

    /// Says how many folders were opened, and how many wait.
    pub fn count(&mut self, opened: u32, waiting: usize) {
        self.numbers[4] = number(opened as usize);
        self.numbers[5] = number(waiting);
    }

    /// Tells of a file.
    pub fn tell(&mut self, place: usize, end: i32) {
        self.numbers.extend([number(place), end]);
        self.numbers[1] += 1;
    }

    /// Hands out what was told.
    pub fn each_told(&self, mut take: impl FnMut(usize, i32)) {
        for [place, end] in self.numbers[HEAD..].as_chunks().0 {
            take(*place as usize, *end);
        }
    }

    /// Keeps those of the files told of of which `keeps` says so.
    pub fn keep(&mut self, mut keeps: impl FnMut(usize, i32) -> bool) {
        let mut kept = HEAD;
        for at in (HEAD..self.numbers.len()).step_by(2) {
            let (place, end) = (self.numbers[at], self.numbers[at + 1]);
            if keeps(place as usize, end) {
                self.numbers.copy_within(at..at + 2, kept);
                kept += 2;
            }
        }
        self.numbers.truncate(kept);
        self.numbers[1] = number((kept - HEAD) / 2);
    }

    /// True if any file was told of.
    #[must_use]
    pub fn has_told(&self) -> bool {
        self.numbers[1] > 0
    }
}

/// A number as it is told.
pub(crate) fn number(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX)
}
