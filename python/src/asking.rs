//! Questions: the functions that simulate, sweep, check, analyze, plan and trace.

use crate::parameters::{raised, read};
use crate::work::wait_for;
use bellwether::cli::ask;
use bellwether::sim::trace as told;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

/// The JSON of `sim`; the numbers of the runs and whether they settled, as bytes; and each measure
/// with its values, which are not a number where a run has none.
type Simulated<'py> = (
    String,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Vec<(String, Bound<'py, PyByteArray>)>,
);

/// Simulates.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    what: String,
    parameters: &Bound<'py, PyDict>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Simulated<'py>> {
    let parameters = read(parameters)?;
    let (json, samples) = wait_for(py, progress, move || ask::simulate(&what, &parameters))?;
    let numbers: Vec<u8> = samples.runs.iter().flat_map(|run| run.number.to_le_bytes()).collect();
    let settled: Vec<u8> = samples.runs.iter().map(|run| u8::from(run.settled)).collect();
    let column = |at: usize| {
        let values = samples.runs.iter().map(|run| run.values[at].unwrap_or(f64::NAN));
        let bytes: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        PyByteArray::new(py, &bytes)
    };
    let measures = samples.measures.iter().enumerate();
    let columns = measures.map(|(at, measure)| (measure.name(), column(at))).collect();
    let bytes = |bytes: &[u8]| PyByteArray::new(py, bytes);
    Ok((json.to_string(), bytes(&numbers), bytes(&settled), columns))
}

/// Estimates how probable a rare event is.
#[pyfunction]
pub(crate) fn estimate(
    py: Python<'_>,
    what: String,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    answered(ask::estimate, py, what, parameters, progress)
}

/// Sweeps what a file describes, or keys as JSON; the rows are JSON, too.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    file: Option<String>,
    keys: Option<String>,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let parameters = read(parameters)?;
    let what = match keys {
        Some(keys) => ask::Swept::Keys(keys),
        None => ask::Swept::File(file.unwrap_or_default()),
    };
    let rows = wait_for(py, progress, move || ask::sweep(&what, &parameters))?;
    Ok(rows.to_string())
}

/// A question that is answered with JSON.
type Asked = fn(&str, ask::Parameters<'_>) -> Result<serde_json::Value, ask::Refused>;

fn answered(
    ask: Asked,
    py: Python<'_>,
    what: String,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let parameters = read(parameters)?;
    let result = wait_for(py, progress, move || ask(&what, &parameters))?;
    Ok(result.to_string())
}

/// Tries to break a promise.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    protocol: String,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    answered(ask::check, py, protocol, parameters, progress)
}

/// Computes a quantity.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    quantity: String,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    answered(ask::analyze, py, quantity, parameters, progress)
}

/// Chooses parameters.
#[pyfunction]
pub(crate) fn plan(
    py: Python<'_>,
    protocol: String,
    parameters: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    answered(ask::plan, py, protocol, parameters, progress)
}

/// Simulates one run, or reads a recorded one.
#[pyfunction]
pub(crate) fn trace(
    py: Python<'_>,
    what: Option<String>,
    parameters: &Bound<'_, PyDict>,
) -> PyResult<Trace> {
    let parameters = read(parameters)?;
    wait_for(py, None, move || ask::trace(what.as_deref(), &parameters)).map(Trace)
}

/// One run.
#[pyclass(frozen, module = "bellwether._native")]
pub(crate) struct Trace(ask::Trace);

#[pymethods]
impl Trace {
    /// What ran, in a line.
    #[getter]
    fn about(&self) -> &str {
        self.0.about()
    }

    fn __len__(&self) -> usize {
        self.0.records().len()
    }

    /// The records, one JSON object a line.
    fn json_lines(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let mut text = String::new();
            told::to_json_lines(self.0.records(), &mut text);
            text
        })
    }

    /// The records for people.
    fn transcript(&self, py: Python<'_>) -> String {
        py.detach(|| told::transcript(self.0.records()))
    }

    /// A picture.
    fn svg(&self, py: Python<'_>, view: &str, title: Option<&str>) -> PyResult<String> {
        py.detach(|| self.0.svg(view, title)).map_err(raised)
    }
}

/// All protocols, as JSON.
#[pyfunction]
pub(crate) fn protocols() -> String {
    ask::protocols().to_string()
}

/// All quantities, as JSON.
#[pyfunction]
pub(crate) fn quantities() -> String {
    ask::quantities().to_string()
}

/// The parameters of a command, as JSON; nothing if there is no such command or protocol.
#[pyfunction]
#[pyo3(signature = (command, protocol=None))]
pub(crate) fn offered(command: &str, protocol: Option<&str>) -> Option<String> {
    ask::offered(command, protocol).map(|all| all.to_string())
}
