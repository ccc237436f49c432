//! Invalid parameters, and their errors.

use super::*;
use alloc::string::ToString;

fn refused(config: Config) -> alloc::string::String {
    config.around(()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn the_defaults_keep_the_rules() {
    assert_eq!(Config::default().around(7).map(|params| *params.inner()), Ok(7));
}

#[test]
fn what_breaks_a_rule_is_named() {
    let good = Config::default();
    let silence = refused(Config { suspect: good.beat, ..good });
    assert!(silence.starts_with("beat = 1s and suspect = 1s, but 0 < beat < suspect"), "{silence}");
    for config in [
        Config { beat: Duration::ZERO, ..good },
        Config { suspect: Duration::MAX, ..good },
        Config { resend: Duration::ZERO, ..good },
        Config { resend: Duration::MAX, ..good },
        Config { tries: 0, ..good },
        Config { tries: u32::MAX, ..good },
    ] {
        assert!(refused(config).contains("must hold; try "), "{config:?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let written = r#"{"beat":"200ms","tries":9}"#;
    let config: Config = serde_json::from_str(written).unwrap();
    assert_eq!(config, Config { beat: ms(200), tries: 9, ..Config::default() });
    assert!(serde_json::from_str::<Config>(r#"{"beats":"1s"}"#).is_err());
}
