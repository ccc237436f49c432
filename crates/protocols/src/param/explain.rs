//! Errors in the words of whoever gave the parameters: a command line calls them flags.

use super::Param;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// What stands beside a parameter in the text of a rule, such as `0 < beat < suspect`.
const RELATIONS: [&str; 6] = ["=", "<", "<=", ">", ">=", "+"];

/// The text of a rule, in which `call` says what the reader calls a parameter of this table.
///
/// A parameter stands beside a relation; a name that stands elsewhere is a plain word, as in
/// "three announce intervals", and stays.
pub fn explain(text: &str, table: &[Param], call: &dyn Fn(&'static str) -> String) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let relates = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| RELATIONS.contains(word))
    };
    let called = |(at, word): (usize, &&str)| {
        let ends = word.trim_end_matches([',', ';', ':', '.', ')']);
        let (before, after) = (ends.trim_start_matches('('), &word[ends.len()..]);
        let begin = &ends[..ends.len() - before.len()];
        let follows = after.is_empty() && relates(at.checked_add(1));
        let param = table.iter().find(|param| param.name == before);
        match param.filter(|_| follows || relates(at.checked_sub(1))) {
            Some(param) => [begin, &call(param.name), after].concat(),
            None => (*word).to_owned(),
        }
    };
    words.iter().enumerate().map(called).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_relation_is_called_as_the_reader_does() {
        const TABLE: &[Param] = &[Param::of::<u32>("lock", ""), Param::of::<u32>("beat", "")];
        let flags = |text| explain(text, TABLE, &|name| ["--", name].concat());
        assert_eq!(
            flags("lock = 1s, but 0 < beat < lock; a longer lock will do"),
            "--lock = 1s, but 0 < --beat < --lock; a longer lock will do"
        );
        assert_eq!(
            flags("nothing = 3 is left (lock + beat) "),
            "nothing = 3 is left (--lock + --beat) "
        );
    }
}
