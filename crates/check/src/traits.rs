//! What is known of an expectation beside its verdict: what `not`, the rest of a list and empty passes ask of it. Each
//! family file fills this in once for each of its members.

/// What is known of an expectation without an answer.
#[derive(Debug)]
pub(super) struct Traits {
    /// What the rest of a list that was not fetched to its end can do to the verdict.
    pub(super) more: Sway,
    /// What a message that comes after the answer can do to the verdict.
    pub(super) late: Sway,
    /// What it says of an answer.
    pub(super) says: Says,
    /// Whether it holds where nothing comes, without asking for that.
    pub(super) holds_of_silence: bool,
    /// Whether it holds of a call that failed before it did anything, without asking for that.
    pub(super) holds_of_failure: bool,
    /// Why nothing can fail it.
    pub(super) unfailable: Option<String>,
}

impl Traits {
    /// Of an expectation that can hold and can fail, and is not about the content of an answer.
    pub(super) const PLAIN: Self = Self {
        more: Sway::NONE,
        late: Sway::NONE,
        says: Says::Other,
        holds_of_silence: false,
        holds_of_failure: false,
        unfailable: None,
    };
}

/// What an expectation says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// What the text under test is or has.
    Text,
    /// What other content there is.
    Content,
    /// Which JSON-RPC error it is.
    Error,
    /// None of this.
    Other,
}

/// What something that is not seen yet can do to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sway {
    /// It can make it hold.
    pub(super) gains: bool,
    /// It can make it not hold any more.
    pub(super) loses: bool,
}

impl Sway {
    /// Nothing.
    pub(super) const NONE: Self = Self::new(false, false);
    /// What is wanted may come.
    pub(super) const GAINS: Self = Self::new(true, false);
    /// What is not wanted may come.
    pub(super) const LOSES: Self = Self::new(false, true);
    /// Either.
    pub(super) const BOTH: Self = Self::new(true, true);

    pub(super) const fn new(gains: bool, loses: bool) -> Self {
        Self { gains, loses }
    }

    /// What it does to one of the two.
    pub(super) fn or(self, other: Self) -> Self {
        Self::new(self.gains || other.gains, self.loses || other.loses)
    }

    /// What it does to the opposite.
    pub(super) fn of_not(self) -> Self {
        Self::new(self.loses, self.gains)
    }
}

/// The reason if every item of a list is open.
pub(super) fn every<T>(
    key: &str,
    items: &[T],
    open: impl Fn(&T) -> bool,
    of: &str,
) -> Option<String> {
    let is_open = !items.is_empty() && items.iter().all(open);
    is_open.then(|| format!("`{key}` asks only for {of}"))
}
