//! A report as one page of HTML that needs nothing else: no script, no font, no other file.
//!
//! It begins with every verdict in one table; then each figure has its picture, what is said about
//! it, what the numbers say, what was chosen, the command that makes it, and its numbers or its
//! records, folded.
//! The links to a figure's files hold where the page lies beside them.
//!
//! A page that is there can be read back as the [`Piece`]s that it is made of, so that a report can
//! grow figure by figure.

use super::markup::{Prose, Text, put};
use super::{picture, stem, stem_of};
use crate::figures::{Budget, CLAIMS, Claim, Curve, Dot, FAMILY, Finding, Played, Table, Verdict};
use crate::numbers::{grouped, short};
use bellwether_sim::trace::transcript;

/// What a page says of one figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What links to it.
    anchor: String,
    /// Its verdicts in the table of all.
    rows: String,
    /// Its own section.
    section: String,
}

/// Where the verdicts of a figure begin and end.
const ROWS: [&str; 2] = ["<tbody>\n<tr><th scope=\"rowgroup\"", "</tbody>\n"];
/// Where the section of a figure begins and ends.
const SECTION: [&str; 2] = ["<section class=\"finding\" id=\"", "</section>\n"];

impl Piece {
    /// Says it of this figure.
    pub fn of(finding: &Finding) -> Self {
        let (mut rows, mut own) = (String::new(), String::new());
        verdicts(&mut rows, finding);
        section(&mut own, finding);
        Self { anchor: anchor(finding), rows, section: own }
    }

    /// The pieces of a page that was made here; none of any other text.
    pub fn all_of(page: &str) -> Vec<Self> {
        let rows = parts(page, ROWS);
        let piece = |section: String| {
            let anchor = section[SECTION[0].len()..].split('"').next()?.to_owned();
            let link = format!("href=\"#{anchor}\"");
            let rows = rows.iter().find(|rows| rows.contains(&link))?.clone();
            Some(Self { anchor, rows, section })
        };
        parts(page, SECTION).into_iter().filter_map(piece).collect()
    }

    /// Whether it is of the figure with this name.
    pub fn is_of(&self, figure: &str) -> bool {
        self.anchor == format!("figure-{}", stem_of(figure))
    }

    /// How many claims have this verdict.
    fn count(&self, verdict: Verdict) -> usize {
        self.rows.matches(&badge(verdict)).count()
    }
}

/// All parts of a text that begin and end so.
fn parts(text: &str, [begin, end]: [&str; 2]) -> Vec<String> {
    let mut pieces = text.split(begin);
    let _before = pieces.next();
    let whole =
        |piece: &str| piece.split_once(end).map(|(inner, _)| format!("{begin}{inner}{end}"));
    pieces.filter_map(whole).collect()
}

/// The whole page. Verdicts come first; `budget` says from how much work.
pub fn page(findings: &[Finding], budget: Budget) -> String {
    assemble(&findings.iter().map(Piece::of).collect::<Vec<_>>(), budget)
}

/// The page of these pieces, in this order.
pub fn assemble(pieces: &[Piece], budget: Budget) -> String {
    let mut body = String::new();
    header(&mut body, pieces, budget);
    body.push_str(
        "<section>\n<h2>All verdicts</h2>\n<div class=\"wide\">\n<table class=\"verdicts\">\n\
         <thead><tr><th>Figure</th><th>What is claimed</th><th>Verdict</th></tr></thead>\n",
    );
    pieces.iter().for_each(|piece| body.push_str(&piece.rows));
    body.push_str("</table>\n</div>\n</section>\n");
    pieces.iter().for_each(|piece| body.push_str(&piece.section));
    let style = include_str!("page.css");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Bellwether: published figures, drawn again</title>\n<style>\n{style}</style>\n\
         </head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn header(out: &mut String, pieces: &[Piece], budget: Budget) {
    let Budget { runs, seed, .. } = budget;
    let counts = Verdict::ALL
        .map(|verdict| {
            let count: usize = pieces.iter().map(|piece| piece.count(verdict)).sum();
            format!("{count} {}", badge(verdict))
        })
        .join(", ");
    let runs = grouped(&runs.to_string());
    let family = short(100.0 * FAMILY);
    put!(
        out,
        "<header>\n<h1>Published figures, drawn again</h1>\n\
         <p>Every figure is computed from formulas, as printed and as corrected, and from \
         simulations of the protocols, {runs} runs a point unless a figure needs more or fewer, \
         from seed {seed}; each figure says how many its points have. After ± stands a standard \
         error; the intervals in tables and pictures hold the true mean with 95&nbsp;% \
         confidence.</p>\n\
         <p>A claim is a list of comparisons, each with a margin. It is <em>confirmed</em> if \
         every comparison holds with the whole of its interval, <em>refuted</em> if one fails with \
         the whole of its interval. Otherwise more runs are made, until the figure\'s budget is \
         spent: then it is <em>undecided</em>. <em>Not reproducible</em> is what the text leaves \
         open. The probability that this page has a wrong verdict is at most {family}&nbsp;%: each \
         of at most {CLAIMS} claims may err with an equal share α of that, its k-th look with \
         α/2<sup>k</sup>. Intervals that confirm have confidence 1&nbsp;−&nbsp;α/2<sup>k</sup>; \
         those that refute a claim of n comparisons 1&nbsp;−&nbsp;α/(2<sup>k</sup>n). Each verdict \
         says its margin, its level and its look.</p>\n\
         {SOURCES}<p class=\"counts\">{counts}</p>\n</header>\n"
    );
}

/// What the figures cite, in full.
const SOURCES: &str = "\
    <p>The thesis is Eve M. Schooler, <cite>Why multicast protocols (don\u{2019}t) scale</cite>, \
    California Institute of Technology, 2001. MEREA is P. Beaulah Soundarabai, Thriveni J, K. R. \
    Venugopal and L. M. Patnaik, <cite>An improved leader election algorithm for distributed \
    systems</cite>, International Journal of Next-Generation Networks 5(1), 2013. The lecture is \
    Christian Fischer Pedersen, <cite>Leader election</cite>, Aarhus University, 2020. The \
    probabilistic election is Indranil Gupta, Robbert van Renesse and Kenneth P. Birman, <cite>A \
    probabilistically correct leader election protocol for large groups</cite>, technical report, \
    Cornell University, 2000. Fetzer and Cristian is Christof Fetzer and Flaviu Cristian, <cite>A \
    highly available local leader election service</cite>, IEEE Transactions on Software \
    Engineering 25(5), 1999.</p>\n";

fn badge(verdict: Verdict) -> String {
    let (class, sign) = match verdict {
        Verdict::Confirmed => ("yes", '✓'),
        Verdict::Refuted => ("no", '✗'),
        Verdict::NotReproducible => ("open", '?'),
        Verdict::Undecided => ("open", '≈'),
    };
    format!("<span class=\"badge {class}\">{sign} {}</span>", verdict.name())
}

/// What links to a figure.
fn anchor(finding: &Finding) -> String {
    format!("figure-{}", stem(finding))
}

/// The verdicts on one figure, as rows of a table.
fn verdicts(out: &mut String, finding: &Finding) {
    out.push_str("<tbody>\n");
    let link = format!("<a href=\"#{}\">{}</a>", anchor(finding), Text(finding.id));
    let rows = finding.claims.len().max(1);
    let first = format!("<th scope=\"rowgroup\" rowspan=\"{rows}\">{link}</th>");
    if finding.claims.is_empty() {
        let title = Prose(finding.title);
        put!(out, "<tr>{first}<td>{title}</td><td>nothing is claimed</td></tr>\n");
    }
    for (index, claim) in finding.claims.iter().enumerate() {
        let lead = if index == 0 { first.as_str() } else { "" };
        let (says, verdict) = (Prose(claim.says), badge(claim.verdict));
        put!(out, "<tr>{lead}<td>{says}</td><td>{verdict}</td></tr>\n");
    }
    out.push_str("</tbody>\n");
}

fn section(out: &mut String, finding: &Finding) {
    let (id, title, source) = (Text(finding.id), Prose(finding.title), Prose(finding.source));
    put!(
        out,
        "<section class=\"finding\" id=\"{}\">\n<h2><span class=\"id\">{id}</span> {title}</h2>\n\
         <p class=\"source\">{source}</p>\n<figure class=\"wide\">\n{}</figure>\n",
        anchor(finding),
        picture::inline(finding)
    );
    finding.tables.iter().for_each(|table| tabled(out, table));
    let said = if finding.is_ours() { "What is asked" } else { "What the paper says" };
    put!(out, "<h3>{said}</h3>\n<p>{}</p>\n", Prose(finding.says));
    if !finding.claims.is_empty() {
        out.push_str("<h3>What we find</h3>\n<ul class=\"claims\">\n");
        finding.claims.iter().for_each(|claim| judged(out, claim));
        out.push_str("</ul>\n");
    }
    if let Some(runs) = finding.runs() {
        let [least, most] = runs.map(|runs| grouped(&runs.to_string()));
        let range = if least == most { least } else { format!("{least} to {most}") };
        put!(out, "<p>Simulated points have {range} runs each.</p>\n");
    }
    listed(out, "What was cut", &finding.cuts());
    listed(out, "What we chose", finding.choices);
    let stem = stem(finding);
    put!(out, "<h3>How to get it</h3>\n<pre><code>{}</code></pre>\n", Text(&finding.command));
    let link = |kind: &str| format!("<a href=\"{stem}.{kind}\">{stem}.{kind}</a>");
    let links = ["svg", "csv", "json"].map(link).join(", ");
    put!(out, "<p class=\"files\">Picture and numbers: {links}</p>\n");
    match &finding.run {
        Some(run) => write_run(out, run),
        None => numbers(out, finding),
    }
    out.push_str("</section>\n");
}

/// A list under its heading; nothing, if it is empty.
fn listed<T: AsRef<str>>(out: &mut String, heading: &str, sentences: &[T]) {
    if sentences.is_empty() {
        return;
    }
    put!(out, "<h3>{heading}</h3>\n<ul>\n");
    for sentence in sentences {
        put!(out, "<li>{}</li>\n", Prose(sentence.as_ref()));
    }
    out.push_str("</ul>\n");
}

fn tabled(out: &mut String, table: &Table) {
    let caption = Prose(table.title);
    put!(out, "<div class=\"wide\">\n<table>\n<caption>{caption}</caption>\n<thead><tr>");
    for head in &table.head {
        put!(out, "<th>{}</th>", Prose(head));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for cell in row {
            put!(out, "<td>{}</td>", Prose(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn write_run(out: &mut String, run: &Played) {
    put!(
        out,
        "<details>\n<summary>The run, record by record</summary>\n<p>{}</p>\n\
         <pre>{}</pre>\n</details>\n",
        Text(&run.command()),
        Text(&transcript(&run.records))
    );
}

fn judged(out: &mut String, claim: &Claim) {
    let Claim { says, section, verdict, because, rule, .. } = claim;
    put!(
        out,
        "<li>{} {} <span class=\"where\">({})</span><br><span class=\"because\">{}</span><br>\
         <span class=\"because\">Rule: {}</span></li>\n",
        badge(*verdict),
        Prose(says),
        Text(section),
        Prose(because),
        Prose(rule)
    );
}

fn numbers(out: &mut String, finding: &Finding) {
    let points: usize =
        finding.panes.iter().flat_map(|pane| &pane.curves).map(|curve| curve.dots.len()).sum();
    put!(out, "<details>\n<summary>The numbers: {points} points</summary>\n<div class=\"wide\">\n");
    for pane in &finding.panes {
        let unit = |unit: &str| match unit {
            "" => String::new(),
            unit => format!(" ({unit})"),
        };
        let x = format!("{}{}", pane.x.label, unit(pane.x.unit));
        let y = format!("{}{}", pane.y.label, unit(pane.y.unit));
        put!(
            out,
            "<table class=\"numbers\">\n<caption>{}</caption>\n<thead><tr><th>series</th>\
             <th>kind</th><th>{}</th><th>{}</th><th>95&nbsp;% interval</th><th>runs</th></tr>\
             </thead>\n<tbody>\n",
            Prose(pane.title),
            Prose(&x),
            Prose(&y)
        );
        for curve in &pane.curves {
            curve.dots.iter().for_each(|dot| row(out, curve, dot));
        }
        out.push_str("</tbody>\n</table>\n");
    }
    out.push_str("</div>\n</details>\n");
}

fn row(out: &mut String, curve: &Curve, dot: &Dot) {
    let (interval, runs) = if dot.runs > 0 {
        let [low, high] = dot.ci95.map(short);
        let interval = match dot.cut {
            0 => format!("{low} to {high}"),
            cut => format!("none: {cut} runs were cut"),
        };
        (interval, grouped(&dot.runs.to_string()))
    } else {
        Default::default()
    };
    put!(
        out,
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{interval}</td><td>{runs}</td></tr>\n",
        Prose(&curve.name),
        curve.kind.name(),
        grouped(&short(dot.x)),
        short(dot.y)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_page_needs_nothing_else() {
        let text = page(&[sample::plain(), sample::four()], Budget::default());
        for foreign in ["<script", "<link", "@import", "src=", "url(http"] {
            assert!(!text.contains(foreign), "{foreign}");
        }
        let addresses = text.matches("http").count();
        assert_eq!(addresses, text.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    }

    #[test]
    fn every_verdict_is_a_word_and_links_lead_somewhere() {
        let text = page(&[sample::plain()], Budget::default());
        for words in ["✓ confirmed", "✗ refuted", "? not reproducible"] {
            // In the count, in the table, and at its claim.
            assert_eq!(text.matches(words).count(), 3, "{words}");
        }
        assert!(text.contains("href=\"#figure-5.6\"") && text.contains("id=\"figure-5.6\""));
        for kind in ["svg", "csv", "json"] {
            assert!(text.contains(&format!("href=\"5.6.{kind}\"")));
        }
    }

    #[test]
    fn a_page_is_read_back_as_the_pieces_that_it_is_made_of() {
        let findings = [sample::plain(), sample::four()];
        let text = page(&findings, Budget::default());
        let pieces = Piece::all_of(&text);
        assert_eq!(pieces, findings.each_ref().map(Piece::of));
        assert_eq!(assemble(&pieces, Budget::default()), text);
        assert!(pieces[0].is_of(findings[0].id) && !pieces[0].is_of(findings[1].id));
        assert_eq!(Piece::all_of("<html>of somebody else</html>"), []);
    }

    #[test]
    fn each_figure_says_how_many_runs_its_points_have() {
        let mut finding = sample::plain();
        let told = |finding: &Finding| {
            let text = page(std::slice::from_ref(finding), Budget::default());
            let (_, rest) = text.split_once("<p>Simulated points have ").expect("it is said");
            rest.split_once(" runs each.</p>").expect("a sentence").0.to_owned()
        };
        assert_eq!(told(&finding), "1,000");
        let dots = &mut finding.panes[0].curves[1].dots;
        (dots[0].runs, dots[1].runs, dots[1].cut) = (30, 3_990, 10);
        assert_eq!(told(&finding), "30 to 4,000");
        finding.panes[0].curves.retain(|curve| curve.kind != crate::figures::Kind::Simulated);
        assert!(!page(&[finding], Budget::default()).contains("Simulated points have"));
    }

    #[test]
    fn runs_that_were_cut_are_told() {
        let mut finding = sample::plain();
        assert!(!page(&[finding.clone()], Budget::default()).contains("What was cut"));
        finding.panes[0].curves[1].dots[0].cut = 12;
        let text = page(&[finding], Budget::default());
        assert!(text.contains("LE-A, simulated, at 2: 12 of 1012 runs were cut"), "{text}");
        assert!(text.contains("none: 12 runs were cut"), "{text}");
    }

    #[test]
    fn no_text_becomes_markup() {
        let text = page(&[sample::hostile()], Budget::default());
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains("href=\"../"), "a figure's files lie beside the page");
    }

    #[test]
    fn ids_are_given_once() {
        let text = page(&[sample::plain(), sample::four()], Budget::default());
        let mut ids: Vec<_> =
            text.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
