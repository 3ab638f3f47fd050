//! Where the reports go: the forms and files that `--output` names, and how they are written.
//!
//! What a report says is made elsewhere.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use super::{complain, shared::Color};
use crate::{
    analyze::Analysis,
    error::Error,
    report::{self, RENDERERS, Renderer, Report, ReportOptions, Style},
};

/// One output: a renderer, and a file or standard output.
pub(super) struct Output {
    renderer: &'static Renderer,
    file: Option<PathBuf>,
}

/// What `--output` asks for; one table on standard output where it says nothing.
pub(super) fn outputs(arguments: &[String]) -> Result<Vec<Output>, Error> {
    if arguments.is_empty() {
        return Ok(vec![Output { renderer: &RENDERERS[0], file: None }]);
    }
    let parse = |argument: &String| {
        let (name, file) = match argument.split_once('=') {
            Some((_, "")) => return Err(Error::Usage(format!("--output {argument}: the file name is missing"))),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (argument.as_str(), None),
        };
        let known: Vec<&str> = RENDERERS.iter().map(|renderer| renderer.name).collect();
        match report::renderer(name) {
            Some(renderer) => Ok(Output { renderer, file }),
            None => Err(Error::Usage(format!("--output {name}: not one of {}", known.join(", ")))),
        }
    };
    let outputs: Vec<Output> = arguments.iter().map(parse).collect::<Result<_, _>>()?;
    if outputs.iter().filter(|output| output.file.is_none()).count() > 1 {
        let words = "--output: two reports would be mixed on standard output; give one of them a file: KIND=FILE";
        return Err(Error::Usage(words.to_owned()));
    }
    each_has_its_own_file(&outputs)?;
    Ok(outputs)
}

/// The later of two reports would replace the earlier one. Devices and pipes take any number.
fn each_has_its_own_file(outputs: &[Output]) -> Result<(), Error> {
    let mut known: Vec<PathBuf> = Vec::new();
    for file in outputs.iter().filter_map(|output| output.file.as_deref()) {
        let target = replaced_by(file);
        if known.contains(&target) {
            return Err(Error::Usage(format!("--output: two reports would go to '{}'", file.display())));
        }
        if !is_stream(file) {
            known.push(target);
        }
    }
    Ok(())
}

/// Whether a path is written to rather than replaced.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file())
}

/// The path of the file that a report to `path` replaces, by whatever name it is called.
fn replaced_by(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref());
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes all of them, with the words of the records that they cite.
pub(super) fn write_reports(
    analysis: &Analysis,
    options: &ReportOptions,
    outputs: &[Output],
    color: Color,
) -> Result<(), Error> {
    let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, options)
        .with_not_read(analysis.found.not_read());
    if let Some(unmatched) = report.unmatched() {
        complain(&format!("notice: {unmatched}"));
    }
    let renderers: Vec<&Renderer> = outputs.iter().map(|output| output.renderer).collect();
    let quotes = analysis.quotes(&report.wanted_quotes(&renderers));
    let report = report.with_quotes(quotes);
    for output in outputs {
        write_report(&report, output, color)?;
    }
    Ok(())
}

fn write_report(report: &Report<'_>, output: &Output, color: Color) -> Result<(), Error> {
    let Some(path) = &output.file else {
        let stdout = io::stdout();
        let color = color == Color::Always
            || color == Color::Auto
                && stdout.is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let mut writer = io::BufWriter::with_capacity(1 << 16, stdout.lock());
        (output.renderer.render)(report, Style { width: WIDTH, color }, &mut writer).map_err(write_error)?;
        return writer.flush().map_err(write_error);
    };
    let style = Style { width: WIDTH, color: color == Color::Always };
    let render = |writer: &mut dyn Write| (output.renderer.render)(report, style, writer);
    write_file(path, &render).map_err(|source| Error::Write { path: path.clone(), source })
}

/// A file appears whole or not at all. Devices and pipes are written to, and a link leads to what is replaced.
fn write_file(path: &Path, render: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_stream(path) {
        let mut writer = io::BufWriter::with_capacity(1 << 16, fs::OpenOptions::new().write(true).open(path)?);
        render(&mut writer)?;
        return writer.flush();
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref());
    let mut writer = io::BufWriter::with_capacity(1 << 16, temporary(folder)?);
    render(&mut writer)?;
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are private; a report has the rights that any new file has, which the user's mask restricts.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// Reports fit 80 columns everywhere: they are pasted into tickets.
const WIDTH: u16 = 80;

/// What went wrong on standard output. A reader that went away is no fault.
pub(super) fn write_error(source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::BrokenPipe {
        return Error::BrokenPipe;
    }
    Error::Write { path: "standard output".into(), source }
}
