//! The palette: the colours of leaders, of who follows them, and of kinds of messages.
//!
//! **Promise.** The page and the still diagrams have the same colours, in a light and in a dark
//! page. Within each set any two are at least [`APART`] apart, for people with usual colour vision
//! and for those who lack one of the three kinds of cones. Text on them has at least the contrast
//! [`LEGIBLE`]. The icon shows a group in these colours. Curves and bars stand for other things,
//! and have colours of their own (`bellwether_analysis`).

use bellwether_sim::diagram::{Options, space_time};

/// The least distance of two colours (CIE76); about 2 can just be seen side by side.
const APART: f64 = 8.0;
/// The least contrast of text (WCAG 2, AA).
const LEGIBLE: f64 = 4.5;
/// The sets: leaders, who follows them, kinds of messages.
const SETS: [char; 3] = ['l', 'f', 'k'];
/// The colours of a set: six of its own, and one for all others.
const COLOURS: usize = 7;

/// A colour as light: red, green and blue, each from 0 to 1 and linear.
type Light = [f64; 3];

/// How people see: usually, and without one kind of cones (Machado, Oliveira and Fernandes 2009,
/// severity 1).
const VISIONS: [(&str, [Light; 3]); 4] = [
    ("usual", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// A colour such as `#1d6faa`.
fn light(colour: &str) -> Light {
    let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6);
    let digits = digits.unwrap_or_else(|| panic!("{colour} is no colour"));
    [0, 2, 4].map(|at| {
        let byte = u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let part = f64::from(byte) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
    })
}

fn times(rows: &[Light; 3], light: Light) -> Light {
    rows.map(|row| row.iter().zip(light).map(|(a, b)| a * b).sum())
}

/// Where light is in the space of CIELAB.
fn seen(light: Light) -> Light {
    const XYZ: [Light; 3] = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ];
    let root = |part: f64| {
        if part > 0.008856 { libm::cbrt(part) } else { 7.787 * part + 16.0 / 116.0 }
    };
    let [x, y, z] = times(&XYZ, light);
    let [x, y, z] = [root(x / 0.95047), root(y), root(z / 1.08883)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(one: &str, other: &str, vision: &[Light; 3]) -> f64 {
    let [a, b] = [one, other]
        .map(|colour| seen(times(vision, light(colour)).map(|part| part.clamp(0.0, 1.0))));
    libm::sqrt(a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum())
}

fn contrast(one: &str, other: &str) -> f64 {
    let [a, b] = [one, other].map(|colour| {
        let [red, green, blue] = light(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    });
    a.max(b) / a.min(b)
}

/// What stands between two texts, after the first place of the one before.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    found.unwrap_or_else(|| panic!("no {before}…{after}")).0
}

/// A variable of the page's style in a light and in a dark page.
fn of_page(name: &str) -> [String; 2] {
    let value = between(include_str!("../page/style.css"), &format!("--{name}: light-dark("), ")");
    let (light, dark) = value.split_once(", ").unwrap();
    [light, dark].map(str::to_owned)
}

/// A set of the page, in a light and in a dark page.
fn set(name: char) -> [Vec<String>; 2] {
    [0, 1].map(|theme| {
        (0..COLOURS).map(|index| of_page(&format!("{name}{index}"))[theme].clone()).collect()
    })
}

#[test]
fn the_page_and_the_still_diagrams_have_the_same_colours() {
    let picture = space_time(&[], &Options::default());
    let (light, dark) = picture.split_once("@media(prefers-color-scheme:dark)").unwrap();
    for name in SETS {
        for (colours, style) in set(name).iter().zip([light, dark]) {
            for (index, colour) in colours.iter().enumerate() {
                let drawn = between(style, &format!(".bw .{name}{index}{{"), "}");
                assert_eq!(drawn.split_once(':').unwrap().1, colour, "{name}{index}");
            }
        }
    }
}

#[test]
fn the_icon_shows_a_leader_and_who_follows_it() {
    let icon = include_str!("../page/icon.svg");
    let (group, others) = icon.split_once("</g>").unwrap();
    let leader = between(others, "fill=\"", "\"");
    let followers = between(others, "<g fill=\"", "\"");
    let around = between(group, "stroke=\"", "\"");
    let [light_leader, light_follower] = ["l0", "f0"].map(|name| of_page(name)[0].clone());
    assert_eq!([around, leader, followers], [&light_leader, &light_leader, &light_follower]);
}

#[test]
fn any_two_colours_of_a_set_are_told_apart_with_any_colour_vision() {
    for (vision, rows) in VISIONS {
        for colours in SETS.map(set).iter().flatten() {
            for (index, one) in colours.iter().enumerate() {
                for other in &colours[..index] {
                    let apart = distance(one, other, &rows);
                    assert!(apart >= APART, "{one} and {other}, {vision}: {apart:.1}");
                }
            }
        }
    }
    // What this measures: a red and a green that only usual vision tells apart.
    let of = |vision: usize| distance("#c95500", "#8a6a00", &VISIONS[vision].1);
    assert!(of(0) > 30.0 && of(1) < 1.0, "{} and {}", of(0), of(1));
}

#[test]
fn text_is_legible_on_leaders_and_on_who_follows_them() {
    let ink = of_page("ink");
    let white = ["#ffffff".to_owned(), "#ffffff".to_owned()];
    for (name, text) in [('l', white), ('f', ink)] {
        for (colours, text) in set(name).iter().zip(text) {
            for colour in colours {
                let found = contrast(colour, &text);
                assert!(found >= LEGIBLE, "{text} on {colour}: {found:.2}");
            }
        }
    }
}
