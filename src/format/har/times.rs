//! What an entry says about durations. Knows no instants: those are the business of the entry.

use crate::format::loose::Value;

/// Ten years: beyond it a duration is damage.
const LONGEST: f64 = 3.2e11;

/// The durations of an entry, in milliseconds; a negative one means "does not apply" (HAR 1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// `time`.
    total: Option<f64>,
    send: Option<f64>,
    wait: Option<f64>,
    receive: Option<f64>,
    /// `receive` is zero: of an event stream this says that the entry was written when its head was there. What a
    /// streaming proxy (mitmproxy 11) writes of a stream that it has not seen the end of.
    unreceived: bool,
}

impl Times {
    /// Takes `time` and `timings` of an entry.
    pub(super) fn read(total: Option<Value<'_>>, timings: Option<Value<'_>>) -> Self {
        let mut times = Self { total: total.and_then(duration), ..Self::default() };
        for (key, value) in timings.into_iter().flat_map(Value::members) {
            match key {
                "send" => times.send = duration(value),
                "wait" => times.wait = duration(value),
                "receive" => {
                    times.receive = duration(value);
                    times.unreceived = value.number() == Some(0.0);
                }
                _ => {}
            }
        }
        times
    }

    /// From the start of the entry to the end of the answer: `time`, or its parts where that is not written.
    pub(super) fn total(&self) -> Option<f64> {
        self.total.or_else(|| self.parts())
    }

    /// The longest duration that is recorded, in whole milliseconds: what one writer leaves out of `time` stands in
    /// `timings`, and a header may tell what somebody behind spent.
    pub(super) fn longest(&self, spent: Option<f64>) -> Option<u32> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        self.total.into_iter().chain(self.parts()).chain(spent).reduce(f64::max).map(|longest| longest.ceil() as u32)
    }

    /// Without the durations, where they are those of the head of an event stream only.
    pub(super) fn of_whole(self, stream: bool) -> Self {
        if stream && self.unreceived { Self { total: None, send: None, wait: None, ..self } } else { self }
    }

    /// Time was spent on sending, waiting or receiving: there was a connection, and the request went out.
    pub(super) fn sent(&self) -> bool {
        self.parts().is_some()
    }

    /// Any time at all was spent on it.
    pub(super) fn any(&self) -> bool {
        self.total().is_some()
    }

    fn parts(&self) -> Option<f64> {
        [self.send, self.wait, self.receive].into_iter().flatten().reduce(|sum, part| sum + part)
    }
}

/// A duration; a zero stands where a writer knows none.
fn duration(value: Value<'_>) -> Option<f64> {
    value.number().filter(|number| *number > 0.0 && *number <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(total: &str, timings: &str) -> Times {
        let entry = format!("{{\"time\":{total},\"timings\":{timings}}}");
        let of = |name| Value::read(&entry).members().find(|(key, _)| *key == name).map(|(_, value)| value);
        Times::read(of("time"), of("timings"))
    }

    #[test]
    fn parts_stand_in_for_the_whole() {
        let read = times("-1", r#"{"send":0,"wait":45000,"receive":1}"#);
        assert_eq!((read.total(), read.longest(None), read.sent()), (Some(45_001.0), Some(45_001), true));
        let read = times("5.5", r#"{"blocked":3,"send":0,"wait":-1,"receive":0}"#);
        assert_eq!((read.total(), read.longest(None), read.sent()), (Some(5.5), Some(6), false));
        assert_eq!(times("20", r#"{"wait":45000}"#).longest(None), Some(45_000));
    }

    #[test]
    fn a_stream_that_nobody_saw_ending_has_no_duration() {
        let read = times("9.3", r#"{"send":1.5,"wait":6.5,"receive":0}"#);
        assert_eq!(read.of_whole(true).longest(None), None);
        assert_eq!(read.of_whole(false).longest(None), Some(10));
        assert_eq!(times("9.3", r#"{"send":1.5,"receive":0.2}"#).of_whole(true).longest(None), Some(10));
    }

    #[test]
    fn a_zero_is_no_measurement() {
        for total in ["0", "-1", "NaN", "4e11"] {
            let read = times(total, "{}");
            assert_eq!((read.total(), read.longest(None), read.any()), (None, None, false), "{total}");
        }
        assert!(times("0", r#"{"send":1}"#).sent());
    }
}
