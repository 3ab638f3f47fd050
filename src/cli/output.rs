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
    report::{RENDERERS, Renderer, Report, ReportOptions, Style},
};

/// One output: its form, and a file or standard output.
pub(super) struct Output<F: 'static> {
    pub(super) form: &'static F,
    file: Option<PathBuf>,
}

/// The forms that a command can write, the default first, what is written, and the name and title of a form.
pub(super) struct Forms<F: 'static> {
    pub(super) all: &'static [F],
    pub(super) of: &'static str,
    pub(super) words: fn(&F) -> (&'static str, &'static str),
}

/// The forms of the report.
pub(super) const REPORTS: Forms<Renderer> =
    Forms { all: RENDERERS, of: "the report", words: |renderer| (renderer.name, renderer.title) };

impl<F> Forms<F> {
    fn names(&self) -> String {
        let names: Vec<&str> = self.all.iter().map(|form| (self.words)(form).0).collect();
        names.join(", ")
    }

    /// The help of `--output`.
    pub(super) fn help(&self) -> String {
        format!("Form of {}, and the file it goes to: {}. Repeatable", self.of, self.names())
    }

    /// The section about them in the generated page.
    pub(super) fn page(&self, title: &str) -> String {
        let line = |form| {
            let (name, title) = (self.words)(form);
            format!("- `{name}`: {title}\n")
        };
        format!("## {title}\n\n{}", self.all.iter().map(line).collect::<Vec<_>>().concat())
    }
}

/// What `--output` asks for; the default form on standard output where it says nothing.
pub(super) fn outputs<F>(arguments: &[String], forms: &Forms<F>) -> Result<Vec<Output<F>>, Error> {
    if arguments.is_empty() {
        return Ok(vec![Output { form: &forms.all[0], file: None }]);
    }
    let parse = |argument: &String| {
        let (name, file) = match argument.split_once('=') {
            Some((_, "")) => return Err(Error::Usage(format!("--output {argument}: the file name is missing"))),
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (argument.as_str(), None),
        };
        match forms.all.iter().find(|form| (forms.words)(form).0 == name) {
            Some(form) => Ok(Output { form, file }),
            None => Err(Error::Usage(format!("--output {name}: not one of {}", forms.names()))),
        }
    };
    let outputs: Vec<Output<F>> = arguments.iter().map(parse).collect::<Result<_, _>>()?;
    if outputs.iter().filter(|output| output.file.is_none()).count() > 1 {
        let words = "--output: two reports would be mixed on standard output; give one of them a file: KIND=FILE";
        return Err(Error::Usage(words.to_owned()));
    }
    each_has_its_own_file(&outputs)?;
    Ok(outputs)
}

/// The later of two reports would replace the earlier one. Devices and pipes take any number.
fn each_has_its_own_file<F>(outputs: &[Output<F>]) -> Result<(), Error> {
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
    outputs: &[Output<Renderer>],
    color: Color,
) -> Result<(), Error> {
    let report = Report::new(&analysis.case, &analysis.verdicts, &analysis.sources, options)
        .with_not_read(analysis.found.not_read());
    if let Some(unmatched) = report.unmatched() {
        complain(&format!("notice: {unmatched}"));
    }
    let renderers: Vec<&Renderer> = outputs.iter().map(|output| output.form).collect();
    let quotes = analysis.quotes(&report.wanted_quotes(&renderers));
    let report = report.with_quotes(quotes);
    for output in outputs {
        write(output, color, &|style, writer| (output.form.render)(&report, style, writer))?;
    }
    Ok(())
}

/// What writes a form with some style.
type Rendering<'w> = dyn Fn(Style, &mut dyn Write) -> io::Result<()> + 'w;

/// Writes one output, to its file or to standard output.
pub(super) fn write<F>(output: &Output<F>, color: Color, render: &Rendering<'_>) -> Result<(), Error> {
    let Some(path) = &output.file else {
        let stdout = io::stdout();
        let color = color == Color::Always
            || color == Color::Auto
                && stdout.is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let mut writer = io::BufWriter::with_capacity(1 << 16, stdout.lock());
        render(Style { width: WIDTH, color }, &mut writer).map_err(write_error)?;
        return writer.flush().map_err(write_error);
    };
    let style = Style { width: WIDTH, color: color == Color::Always };
    write_file(path, &|writer| render(style, writer)).map_err(|source| Error::Write { path: path.clone(), source })
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
