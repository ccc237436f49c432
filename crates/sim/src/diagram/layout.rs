//! The positions of lanes and moments.

use super::Options;
use super::story::Story;
use super::svg::{LABEL_SIZE, shortened, text_width};

/// The largest height of a lane.
const LANE_MAX: f64 = 40.0;
/// The smallest height of a lane.
const LANE_MIN: f64 = 3.5;
/// The height that all lanes share, within these limits.
const LANES_SHARE: f64 = 600.0;

/// Lanes with lock bars are higher by this factor.
const LANE_STRETCH: f64 = 1.25;
/// The fraction of such a lane that its bands may use.
const BANDS_SHARE: f64 = 0.72;

/// Positions of lanes and moments in the picture, in pixels.
pub(super) struct Layout {
    pub(super) width: f64,
    /// The position of the first moment.
    pub(super) left: f64,
    /// The position of the last moment.
    pub(super) right: f64,
    /// The top of the lanes.
    pub(super) top: f64,
    /// The height of one lane.
    pub(super) lane: f64,
    /// The fraction of a lane that its bands may use.
    bands: f64,
    lanes: usize,
    from: u64,
    stretch: f64,
}

impl Layout {
    pub(super) fn new(story: &Story, options: &Options) -> Self {
        let width = options.page_width();
        let lanes = story.lanes.len();
        let label = |id: String| text_width(&lane_label(&id), LABEL_SIZE);
        let labels = story.lanes.iter().map(|lane| label(lane.id.to_string()));
        let stretch = (story.to - story.from).max(1) as f64;
        let (taller, bands) =
            if story.has_holds() { (LANE_STRETCH, BANDS_SHARE) } else { (1.0, 1.0) };
        Self {
            width,
            left: 32.0 + labels.fold(0.0, f64::max),
            right: width - 22.0,
            top: if options.title.is_empty() { 40.0 } else { 58.0 },
            lane: (LANES_SHARE / lanes.max(1) as f64).clamp(LANE_MIN, LANE_MAX) * taller,
            bands,
            lanes,
            from: story.from,
            stretch,
        }
    }

    /// The position of a moment; a moment outside the picture is at its edge.
    pub(super) fn x(&self, at: u64) -> f64 {
        let share = at.saturating_sub(self.from) as f64 / self.stretch;
        self.left + share.min(1.0) * (self.right - self.left)
    }

    /// The middle of a lane.
    pub(super) fn y(&self, lane: usize) -> f64 {
        self.top + (lane as f64 + 0.5) * self.lane
    }

    /// The bottom of the lanes, where the axis is.
    pub(super) fn foot(&self) -> f64 {
        self.top + self.lanes.max(1) as f64 * self.lane + 4.0
    }

    /// How many nanoseconds each of `marks` marks gets if they share all lanes evenly.
    pub(super) fn finest(&self, marks: usize) -> u64 {
        (self.stretch * self.lanes as f64 / marks.max(1) as f64) as u64
    }

    /// The height of a band that fills this fraction of its lane, or more of it where lanes are
    /// thin.
    pub(super) fn band(&self, share: f64) -> f64 {
        let share = if self.lane < 9.0 { share * 1.35 } else { share };
        self.lane * share * self.bands
    }

    /// The position and height of the lock bar under the band of a lane.
    pub(super) fn hold(&self, lane: usize) -> (f64, f64) {
        (self.y(lane) + self.lane * 0.26, self.lane * 0.19)
    }

    /// Half the size of a sign on a lane.
    pub(super) fn sign(&self) -> f64 {
        (self.lane * 0.4).clamp(1.8, 4.5)
    }
}

/// The label at the left of a lane. Ids may have twenty digits.
pub(super) fn lane_label(id: &str) -> String {
    shortened(id, 12)
}
