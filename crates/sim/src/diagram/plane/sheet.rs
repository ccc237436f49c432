//! The sheet that a picture is drawn on, and what its legend must explain.

/// A picture that is drawn from the top downwards.
pub(super) struct Sheet {
    pub(super) width: f64,
    /// The upper end of the unused part.
    pub(super) top: f64,
    pub(super) marks_max: usize,
    pub(super) body: String,
    pub(super) notes: Vec<String>,
    pub(super) labelled: bool,
    pub(super) has_links: bool,
    pub(super) has_past: bool,
    pub(super) has_tree: bool,
    /// Whether a tree edge lies on a link that has disappeared.
    pub(super) has_old_tree: bool,
    pub(super) has_reports: bool,
}

impl Sheet {
    pub(super) fn new(width: f64, top: f64, marks_max: usize) -> Self {
        Self {
            width,
            top,
            marks_max,
            body: String::new(),
            notes: Vec::new(),
            labelled: false,
            has_links: false,
            has_past: false,
            has_tree: false,
            has_old_tree: false,
            has_reports: false,
        }
    }

    /// Marks this height as used.
    pub(super) fn take(&mut self, height: f64) {
        self.top += height;
    }
}
