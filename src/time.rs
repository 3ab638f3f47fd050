//! Instants, the shapes of stamps found in logs, and zones.
//!
//! A recorded stamp is never altered. What it lacks (zone, date) stays marked until correlation places its source.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

/// Nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

/// Nanoseconds in a second.
pub const SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND: i64 = 1_000_000;
/// Nanoseconds in a day.
pub const DAY: i64 = 86_400 * SECOND;

/// A stamp as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The instant; for [`Shape::Local`] read as if it were UTC, for [`Shape::TimeOfDay`] on the first day of 1970.
    pub at: Timestamp,
    /// What the stamp lacks.
    pub shape: Shape,
    /// Digits of the fraction of a second that were written: 0, 3, 6 or 9 after rounding up.
    pub digits: u8,
}

/// What a stamp lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Nothing: date and zone are there.
    Utc,
    /// The zone.
    Local,
    /// Date and zone.
    TimeOfDay,
}

impl Stamp {
    /// A complete instant with the given number of fraction digits.
    pub fn utc(nanoseconds: i64, digits: u8) -> Self {
        Self { at: Timestamp(nanoseconds), shape: Shape::Utc, digits: round_digits(digits) }
    }
}

fn round_digits(digits: u8) -> u8 {
    match digits {
        0 => 0,
        1..=3 => 3,
        4..=6 => 6,
        _ => 9,
    }
}

impl Timestamp {
    /// RFC 3339 in UTC with 0, 3, 6 or 9 fraction digits.
    pub fn rfc3339(self, digits: u8) -> String {
        use chrono::SecondsFormat as F;
        let format = match round_digits(digits) {
            0 => F::Secs,
            3 => F::Millis,
            6 => F::Micros,
            _ => F::Nanos,
        };
        DateTime::from_timestamp_nanos(self.0).to_rfc3339_opts(format, true)
    }

    /// Time of day in UTC, `14:03:13.083`.
    pub fn clock(self) -> String {
        let time = DateTime::from_timestamp_nanos(self.0);
        format!("{:02}:{:02}:{:02}.{:03}", time.hour(), time.minute(), time.second(), time.nanosecond() / 1_000_000)
    }
}

/// Reads the stamp that begins `text`: RFC 3339 and its relatives with `T` or a blank, `.` or `,` before the fraction, `/` or `-` in the date, with or without a zone.
///
/// Returns the stamp and how many bytes it took.
pub fn leading(text: &[u8]) -> Option<(Stamp, usize)> {
    let (date, mut used) = date(text)?;
    match text.get(used)? {
        b'T' | b't' | b' ' => used += 1,
        _ => return None,
    }
    let (time, digits, length) = time_of_day(&text[used..])?;
    used += length;
    let local = NaiveDateTime::new(date, NaiveTime::MIN).and_utc().timestamp_nanos_opt()?.checked_add(time)?;
    let (offset, length) = zone(&text[used..]);
    used += length;
    Some(match offset {
        Some(seconds) => (Stamp::utc(local.checked_sub(i64::from(seconds) * SECOND)?, digits), used),
        None => (Stamp { at: Timestamp(local), shape: Shape::Local, digits: round_digits(digits) }, used),
    })
}

/// Reads a text that is a stamp and nothing else.
pub fn parse(text: &str) -> Option<Stamp> {
    let text = text.trim();
    let (stamp, used) = leading(text.as_bytes())?;
    (used == text.len()).then_some(stamp)
}

/// Reads `HH:MM:SS[.fraction]` at the start of `text`; returns the stamp and its length.
pub fn leading_time_of_day(text: &[u8]) -> Option<(Stamp, usize)> {
    let (at, digits, used) = time_of_day(text)?;
    Some((Stamp { at: Timestamp(at), shape: Shape::TimeOfDay, digits: round_digits(digits) }, used))
}

/// An epoch number: seconds below 1e11, milliseconds below 1e14, microseconds below 1e17, else nanoseconds.
///
/// Phase logs write seconds or milliseconds; microseconds and nanoseconds follow by magnitude.
pub fn epoch(number: f64) -> Option<Stamp> {
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    let (unit, digits) = match number {
        n if n < 1e11 => (1e9, if n.fract() == 0.0 { 0 } else { 6 }),
        n if n < 1e14 => (1e6, if n.fract() == 0.0 { 3 } else { 6 }),
        n if n < 1e17 => (1e3, 6),
        _ => (1.0, 9),
    };
    let nanoseconds = number * unit;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "checked against the range just before"
    )]
    if nanoseconds < i64::MAX as f64 { Some(Stamp::utc(nanoseconds as i64, digits)) } else { None }
}

/// An exact count of nanoseconds since the epoch, as OTLP writes it.
pub fn epoch_nanoseconds(number: i64) -> Stamp {
    Stamp::utc(number, 9)
}

/// The two-digit-year US date of Python's Rich handler: `11/30/26 10:00:00`. Local time.
pub fn rich(text: &[u8]) -> Option<Stamp> {
    let month = number(text, 0, 2)?;
    let day = number(text, 3, 2)?;
    let year = number(text, 6, 2)?;
    if text.get(2) != Some(&b'/') || text.get(5) != Some(&b'/') || text.get(8) != Some(&b' ') {
        return None;
    }
    let (time, digits, _) = time_of_day(text.get(9..)?)?;
    let date = NaiveDate::from_ymd_opt(2000 + i32::try_from(year).ok()?, month, day)?;
    let at = NaiveDateTime::new(date, NaiveTime::MIN).and_utc().timestamp_nanos_opt()?.checked_add(time)?;
    Some(Stamp { at: Timestamp(at), shape: Shape::Local, digits: round_digits(digits) })
}

/// The date of the Common Log Format: `30/Nov/2026:10:00:00 +0000` (also `.123` and without zone, as `HAProxy` writes).
pub fn common_log(text: &[u8]) -> Option<(Stamp, usize)> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let day = number(text, 0, 2)?;
    let month = u32::try_from(MONTHS.iter().position(|name| text.get(3..6) == Some(name))?).ok()? + 1;
    let year = i32::try_from(number(text, 7, 4)?).ok()?;
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    let (time, digits, length) = time_of_day(text.get(12..)?)?;
    let local = NaiveDateTime::new(date, NaiveTime::MIN).and_utc().timestamp_nanos_opt()?.checked_add(time)?;
    let mut used = 12 + length;
    if text.get(used) == Some(&b' ')
        && let (Some(seconds), length) = zone(&text[used + 1..])
    {
        used += 1 + length;
        return Some((Stamp::utc(local.checked_sub(i64::from(seconds) * SECOND)?, digits), used));
    }
    Some((Stamp { at: Timestamp(local), shape: Shape::Local, digits: round_digits(digits) }, used))
}

/// A zone option: `UTC`, `Z`, `+02:00`, `-0530`; seconds east of UTC.
pub fn parse_zone(text: &str) -> Option<i32> {
    if text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    match zone(text.as_bytes()) {
        (Some(seconds), used) if used == text.len() => Some(seconds),
        _ => None,
    }
}

fn number(text: &[u8], at: usize, length: usize) -> Option<u32> {
    let mut value = 0;
    for byte in text.get(at..at + length)? {
        value = value * 10 + u32::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some(value)
}

fn date(text: &[u8]) -> Option<(NaiveDate, usize)> {
    let separator = *text.get(4)?;
    if !matches!(separator, b'-' | b'/') || text.get(7) != Some(&separator) {
        return None;
    }
    let year = i32::try_from(number(text, 0, 4)?).ok()?;
    // Beyond these years nanoseconds do not fit 64 bits.
    if !(1971..=2261).contains(&year) {
        return None;
    }
    Some((NaiveDate::from_ymd_opt(year, number(text, 5, 2)?, number(text, 8, 2)?)?, 10))
}

/// Nanoseconds since midnight, fraction digits, bytes used.
fn time_of_day(text: &[u8]) -> Option<(i64, u8, usize)> {
    if text.get(2) != Some(&b':') || text.get(5) != Some(&b':') {
        return None;
    }
    let (hour, minute, second) = (number(text, 0, 2)?, number(text, 3, 2)?, number(text, 6, 2)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut nanoseconds = i64::from(hour * 3600 + minute * 60 + second.min(59)) * SECOND;
    let mut used = 8;
    let mut digits = 0;
    if matches!(text.get(8), Some(b'.' | b',')) && text.get(9).is_some_and(u8::is_ascii_digit) {
        used = 9;
        let mut unit = SECOND / 10;
        while let Some(byte) = text.get(used).filter(|byte| byte.is_ascii_digit()) {
            nanoseconds += i64::from(byte - b'0') * unit;
            unit /= 10;
            digits = digits.min(254) + 1;
            used += 1;
        }
    }
    Some((nanoseconds, digits, used))
}

/// Seconds east of UTC, and bytes used; `None` where no zone stands.
fn zone(text: &[u8]) -> (Option<i32>, usize) {
    let sign = match text.first() {
        Some(b'Z' | b'z') => return (Some(0), 1),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (None, 0),
    };
    let Some(hours) = number(text, 1, 2) else {
        return (None, 0);
    };
    let colon = usize::from(text.get(3) == Some(&b':'));
    let (minutes, used) = number(text, 3 + colon, 2).map_or((0, 3), |minutes| (minutes, 5 + colon));
    if hours > 15 || minutes > 59 {
        return (None, 0);
    }
    (i32::try_from(hours * 3600 + minutes * 60).ok().map(|seconds| sign * seconds), used)
}

/// The calendar day of an instant, as a count of days since 1970-01-01.
pub fn day_number(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY)
}

/// The year of an instant.
pub fn year(at: Timestamp) -> i32 {
    DateTime::from_timestamp_nanos(at.0).year()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> String {
        let stamp = parse(text).expect("a stamp");
        assert_eq!(stamp.shape, Shape::Utc, "{text}");
        stamp.at.rfc3339(stamp.digits)
    }

    #[test]
    fn the_end_of_time_is_no_stamp() {
        assert_eq!(common_log(b"11/Apr/2262:23:59:59 +0000"), None);
        assert!(common_log(b"10/Apr/2262:23:59:59 +0000").is_some());
    }

    #[test]
    fn reads_the_shapes_that_logs_write() {
        assert_eq!(utc("2026-07-22T14:03:13.083Z"), "2026-07-22T14:03:13.083Z");
        assert_eq!(utc("2026-07-22T16:03:13+02:00"), "2026-07-22T14:03:13Z");
        assert_eq!(utc("2026-07-22 14:03:13,083000+0000"), "2026-07-22T14:03:13.083000Z");
        assert_eq!(parse("2026-11-30 03:06:29,052").map(|stamp| stamp.shape), Some(Shape::Local));
        assert_eq!(parse("2026-13-30 03:06:29"), None);
        assert_eq!(parse("9999-01-01T00:00:00Z"), None);
    }

    #[test]
    fn reads_the_unit_of_an_epoch_from_its_magnitude() {
        for (number, want) in [
            (1_796_008_097.655, "2026-11-30T03:08:17.655000Z"),
            (1_796_008_097_655.0, "2026-11-30T03:08:17.655Z"),
            (1_796_008_097_655_000.0, "2026-11-30T03:08:17.655000Z"),
        ] {
            let stamp = epoch(number).expect("a stamp");
            // A float carries microseconds at best.
            let rounded = Timestamp((stamp.at.0 + 500) / 1000 * 1000);
            assert_eq!(rounded.rfc3339(stamp.digits), want);
        }
        assert_eq!(epoch(f64::NAN), None);
        assert_eq!(epoch(-1.0), None);
    }

    #[test]
    fn reads_console_and_access_log_dates() {
        let stamp = rich(b"11/30/26 03:08:17] INFO").expect("a stamp");
        assert_eq!((stamp.at.rfc3339(0).as_str(), stamp.shape), ("2026-11-30T03:08:17Z", Shape::Local));
        let (stamp, used) = common_log(b"30/Nov/2026:10:00:00 +0100] x").expect("a stamp");
        assert_eq!((stamp.at.rfc3339(0).as_str(), used), ("2026-11-30T09:00:00Z", 26));
    }

    #[test]
    fn zones_of_options() {
        assert_eq!(parse_zone("UTC"), Some(0));
        assert_eq!(parse_zone("+02:00"), Some(7200));
        assert_eq!(parse_zone("-0530"), Some(-19800));
        assert_eq!(parse_zone("Berlin"), None);
    }
}
