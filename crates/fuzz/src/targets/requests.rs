//! The bodies of the laboratory's requests.

use bellwether::check::account::Piece;
use bellwether::cli::spell_flags;
use bellwether::lab::{Asked, BODIES, Cannot, Demo, Measured, Program, Staged, Tried, read_body};
use bellwether::sim::Terrain;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A program that spells flags as a command line does. Parsing them is left out: making the parser
/// takes longer than all the rest.
struct Speller;

fn no_more() -> Cannot {
    "a fuzzer goes no further".to_owned()
}

impl Program for Speller {
    fn protocols(&self) -> Value {
        Value::Null
    }

    fn stage(&self, asked: Asked<'_>) -> Result<Staged, Cannot> {
        let words = spell_flags("trace", asked)?;
        let toml = format!("protocol = {:?}\nnodes = 3\nuntil = \"1s\"\n", asked.protocol);
        Ok(Staged { toml, terrain: Terrain::Open, command: words })
    }

    fn measure(&self, asked: Asked<'_>, _runs: u64) -> Result<Measured, Cannot> {
        spell_flags("sim", asked)?;
        Err(no_more())
    }

    fn trial(&self, asked: Asked<'_>, _promise: Option<&str>) -> Result<Tried, Cannot> {
        spell_flags("check", asked)?;
        Err(no_more())
    }

    fn dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn remote_status(&self, _url: &str) -> Result<Value, Cannot> {
        Err(no_more())
    }

    fn remote_past(&self, _url: &str) -> Result<Piece, Cannot> {
        Err(no_more())
    }

    fn demo(&self) -> Result<Arc<dyn Demo>, Cannot> {
        Err(no_more())
    }
}

/// A request: its name in the first line, and its body.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return false };
    let (name, body) = (&bytes[..end], &bytes[end + 1..]);
    let Some(name) = BODIES.iter().find(|known| known.as_bytes() == name) else { return false };
    match read_body(name, body, &Speller) {
        Ok(understood) => {
            if ["run", "command", "diagram"].contains(name) {
                // What is shown is a scenario file: it means the same run.
                let again = json!({ "toml": understood }).to_string();
                let again = read_body("run", again.as_bytes(), &Speller);
                assert_eq!(again.as_ref(), Ok(&understood), "the scenario comes back");
            }
            true
        }
        Err(why) => {
            assert!(!why.is_empty() && !why.contains('\n'), "an error is one line: {why:?}");
            false
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let all = [
        r#"run
{"protocol":"le-s","flags":{"nodes":"8","loss":".3","bye":true,"listen":null},"faults":[
{"at":"4s","what":"crash","node":"leader"},{"at":5,"what":"heal","from":[0],"to":[1,2]}]}"#,
        r#"command
{"scenario":{"protocol":"bully","nodes":5,"until":"8s","params":{"detector":"heartbeats"},
"faults":[{"at":"1s","what":"cut","from":[0,1],"to":[2]}]},"seed":7}"#,
        "diagram\n{\"toml\":\"protocol = 'le-s'\\nnodes = 5\\nuntil = '8s'\",\"seed\":3,\
         \"view\":\"time\",\"title\":\"x\",\"width\":800}",
        r#"run
{"protocol":"ad-hoc","flags":{"nodes":3,"link":["0-1","1-2"]},"seed":9}"#,
        r#"measure
{"protocol":"le-s","flags":{"nodes":100},"measure":"leadership_delay","runs":20000}"#,
        r#"sweep
{"protocol":"le-s","flags":{},"over":"loss","values":["0.1",0.2,"3s"],"runs":9}"#,
        "figures\n{\"runs\":10,\"seed\":1}",
        r#"check
{"protocol":"local-leader","flags":{"nodes":3},"schedules":2000,"promise":"never-two"}"#,
        "resign\n{\"member\":\"web/1\"}",
    ];
    let mut seeds: Vec<Vec<u8>> = all.map(|text| text.as_bytes().to_vec()).to_vec();
    let traces = super::files::trace_seeds();
    seeds.extend(traces.into_iter().map(|trace| [&b"judge\n"[..], &trace].concat()));
    seeds
}
