//! The paper the picture is drawn on, and what its foot must explain.

/// A picture that is being drawn, from the top.
pub(super) struct Sheet {
    pub(super) width: f64,
    /// Where there is still nothing.
    pub(super) top: f64,
    pub(super) marks_max: usize,
    pub(super) body: String,
    pub(super) notes: Vec<String>,
    pub(super) labelled: bool,
    pub(super) has_links: bool,
    pub(super) has_past: bool,
    pub(super) has_tree: bool,
    /// A tree that grew along links that are gone.
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

    /// So much of it is used from now on.
    pub(super) fn take(&mut self, height: f64) {
        self.top += height;
    }
}
