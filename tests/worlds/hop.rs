//! What a gateway between clients and servers does: it refuses, tries replicas, gives up waiting, and replaces answers.

use super::{
    story::{Came, Story},
    truth::{Answer, Ask, Author, Body, MILLISECOND, Nanos, SECOND, What},
};

impl Story<'_> {
    /// The gateway: it may refuse, try one replica after the other, give up waiting, and replace answers.
    pub(super) fn forward(&mut self, attempt: usize, at: Nanos) -> Came {
        let asks = matches!(self.world.attempts[attempt].ask, Ask::Call { .. });
        if asks && self.rng.u8(..14) == 0 {
            let (status, body) = *self.rng.choice(DOOR).unwrap_or(&DOOR[0]);
            let answer = Answer { author: Author::Gateway, status, body: Body::Plain(body) };
            return self.answer_as_gateway(attempt, answer, Vec::new(), at, at + 300_000);
        }
        let patience = if self.rng.bool() { SECOND } else { 30 * SECOND };
        let again = self.rng.u8(..3) == 0;
        let (mut now, mut upstream) = (at, Vec::new());
        for life in self.replicas(attempt) {
            let connected = self.world.lives[life].lives(now);
            self.fact(now, What::Tried { attempt, life, connected });
            if !connected {
                upstream.push((life, 502));
                now += MILLISECOND;
                continue;
            }
            let since = now;
            let dispatch = self.world.dispatches.len();
            let came = self.serve(attempt, life, now + 100_000);
            let (answer, until) = match &came {
                Came::Answer(answer, done) if done - now < patience => (Some(answer.clone()), *done),
                Came::Closed(done) if done - now < patience => (None, *done),
                _ => (None, now + patience),
            };
            if dispatch < self.world.dispatches.len() {
                self.fact(until, What::Returned { dispatch, answer, since });
            }
            match came {
                Came::Answer(answer, done) if done - now < patience => {
                    upstream.push((life, answer.status));
                    if answer.status >= 500 && again {
                        now = done;
                        continue;
                    }
                    let answer = self.guard(answer);
                    return self.answer_as_gateway(attempt, answer, upstream, at, done + 100_000);
                }
                Came::Closed(done) if done - now < patience => {
                    upstream.push((life, 502));
                    now = done;
                }
                _ => {
                    upstream.push((life, 504));
                    now += patience;
                }
            }
            if !again {
                break;
            }
        }
        let status = upstream.last().map_or(502, |(_, status)| if *status == 504 { 504 } else { 502 });
        let answer = Answer { author: Author::Gateway, status, body: Body::Plain(page(status)) };
        self.answer_as_gateway(attempt, answer, upstream, at, now)
    }

    /// The replicas in the order in which the gateway tries them; it knows the sessions' homes only if it is told.
    fn replicas(&mut self, attempt: usize) -> Vec<usize> {
        let home = self.world.attempts[attempt].life;
        let mut latest: Vec<usize> = Vec::new();
        for server in 0..2 {
            latest.extend(self.world.lives.iter().rposition(|life| life.server == server));
        }
        latest.sort_by_key(|life| *life != home);
        if self.rng.u8(..6) == 0 {
            latest.reverse();
        }
        latest
    }

    /// A guardrail may replace what the server answered.
    fn guard(&mut self, answer: Answer) -> Answer {
        if answer.body != Body::Result || self.rng.u8(..14) > 0 {
            return answer;
        }
        Answer { author: Author::Gateway, status: 403, body: Body::Plain("{\"error\":\"response blocked by policy\"}") }
    }

    fn answer_as_gateway(
        &mut self,
        attempt: usize,
        answer: Answer,
        upstream: Vec<(usize, u16)>,
        since: Nanos,
        at: Nanos,
    ) -> Came {
        self.fact(at, What::GatewayAnswered { attempt, answer: answer.clone(), upstream, since });
        Came::Answer(answer, at)
    }
}

/// Refusals of a gateway that forwards nothing.
const DOOR: &[(u16, &str)] = &[
    (401, "{\"error\":\"invalid_token\"}"),
    (403, "{\"error\":\"forbidden\"}"),
    (429, "slow down"),
    (503, "no healthy upstream"),
    (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
];

fn page(status: u16) -> &'static str {
    if status == 504 {
        "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    } else {
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    }
}
