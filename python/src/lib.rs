//! The module `bellwether._native`: the part of the Python package that is written in Rust.
//!
//! **What it is.** A border. Questions go to [`bellwether::cli::ask`], which answers as the command
//! does, and members are those of `bellwether::net`. Results cross as JSON, columns of numbers as
//! bytes; `bellwether/*.py` makes of them what a reader of Python expects.
//!
//! **Promise.** The interpreter is free while a question is worked on or a member is waited for. No
//! thread of a member ever waits for the interpreter.

mod asking;
mod live;
mod parameters;
mod work;

use pyo3::prelude::*;

/// What is not promised to users of the package: see `bellwether`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::asking::{
        Trace, analyze, check, estimate, offered, plan, protocols, quantities, simulate, sweep,
        trace,
    };
    #[pymodule_export]
    use crate::live::{Campaign, Guard, Member, Watch};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// The exceptions of the package, which are written in Python.
mod errors {
    pyo3::import_exception!(bellwether._errors, BellwetherError);
    pyo3::import_exception!(bellwether._errors, FileError);
    pyo3::import_exception!(bellwether._errors, ForkError);
    pyo3::import_exception!(bellwether._errors, GoneError);
    pyo3::import_exception!(bellwether._errors, NotNowError);
    pyo3::import_exception!(bellwether._errors, ParameterError);
}
