//! Parameters from Python: what a value is as a word of the command line.

use crate::errors::{BellwetherError, FileError, ParameterError};
use bellwether::cli::ask::{ParamValue, Refused, Why};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Reads keyword arguments. What is `None` is left out.
pub(crate) fn read(parameters: &Bound<'_, PyDict>) -> PyResult<Vec<(String, ParamValue)>> {
    let mut read = Vec::new();
    for (name, value) in parameters {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let given = given(&name, &value)?;
        read.push((name, given));
    }
    Ok(read)
}

fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ParamValue> {
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(if switch.is_true() { ParamValue::On } else { ParamValue::Off });
    }
    if is_numpy(value)? {
        let plain = plain(value)?;
        // What Python has no number for stays one of numpy, such as a long double.
        return if is_numpy(&plain)? {
            text(name, &plain).map(ParamValue::Text)
        } else {
            given(name, &plain)
        };
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let texts = value.try_iter()?.map(|value| text(name, &value?));
        return Ok(ParamValue::Several(texts.collect::<PyResult<_>>()?));
    }
    text(name, value).map(ParamValue::Text)
}

/// Whether a value is a number, a truth or an array of numpy.
fn is_numpy(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.get_type().module()?.to_cow()? == "numpy")
}

/// The same as numbers, truths and lists of Python; lengths of time in seconds.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let kind: String = value.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind != "m" {
        return value.call_method0("tolist");
    }
    let second = value.py().import("numpy")?.getattr("timedelta64")?.call1((1, "s"))?;
    value.div(second)?.call_method0("tolist")
}

/// A value as somebody would write it.
fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_cow()?.into_owned());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(number_text(number.value()));
    }
    if value.is_instance_of::<PyDelta>() {
        let seconds: f64 = value.call_method0("total_seconds")?.extract()?;
        return Ok(number_text(seconds));
    }
    // Paths, and numbers of other kinds.
    if let Ok(whole) = value.call_method0("__index__") {
        return text(name, &whole);
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return text(name, &path);
    }
    if let Ok(number) = value.call_method0("__float__") {
        return text(name, &number);
    }
    let kind = value.get_type().name()?;
    Err(ParameterError::new_err((
        format!("{name}: a value is a text, a number, True, False or a list of these, not {kind}"),
        name.to_owned(),
    )))
}

/// A number as the command line reads it: Rust writes all digits, and never an exponent.
fn number_text(number: f64) -> String {
    if number == f64::INFINITY { "infinite".to_owned() } else { number.to_string() }
}

/// The exception for what is refused.
pub(crate) fn raised(refused: Refused) -> PyErr {
    let parameter = refused.parameter().map(str::to_owned);
    let Refused { line, why, .. } = refused;
    match why {
        Why::Parameter => ParameterError::new_err((line, parameter)),
        Why::File => FileError::new_err(line),
        Why::System => BellwetherError::new_err(line),
        Why::Ended => PyKeyboardInterrupt::new_err(line),
    }
}
