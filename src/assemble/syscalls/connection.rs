//! One connection of a kernel trace: what went over it, told as contacts with the outside.

use super::super::place::Place;
use crate::event::{Event, Kind, Pairs, Reach, ReachSource, ReachStage};

/// A socket with a peer.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) process: u32,
    pub(super) address: Box<str>,
    pub(super) connected: bool,
    /// Bytes went out.
    pub(super) sent: bool,
    pub(super) place: Place,
    pub(super) request: Option<Request>,
    /// The request was told already and waits for its answer.
    pub(super) told: bool,
}

/// A request whose bytes went out.
#[derive(Clone, Debug)]
pub(super) struct Request {
    place: Place,
    method: Option<Box<str>>,
    path: Option<Box<str>>,
    pairs: Pairs,
}

impl Connection {
    fn reach(&self, stage: ReachStage) -> Reach<'_> {
        let reach = Reach::new(stage, ReachSource::KernelTrace, &self.address);
        match &self.request {
            Some(request) => Reach {
                method: request.method.as_deref(),
                path: request.path.as_deref(),
                pairs: request.pairs,
                ..reach
            },
            None => reach,
        }
    }

    fn tell(&self, place: &Place, reach: Reach<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let arena = bumpalo::Bump::new();
        let mut body = place.body("", &arena);
        body.keys.pid = Some(self.process);
        out(&body.event(Kind::Reach(reach)));
    }

    pub(super) fn not_connected(&self, event: &Event<'_>, out: &mut dyn FnMut(&Event<'_>)) {
        let reach = Reach::new(ReachStage::NotConnected, ReachSource::KernelTrace, &self.address);
        self.tell(&Place::of(event), reach, out);
    }

    /// Bytes went out. The head of a request and its body may go in two calls: the request is told with its body.
    pub(super) fn send(
        &mut self,
        event: &Event<'_>,
        method: Option<&str>,
        path: Option<&str>,
        pairs: Pairs,
        out: &mut dyn FnMut(&Event<'_>),
    ) {
        if method.is_some() || self.request.is_none() && !self.sent {
            self.request_told(out);
            let request =
                Request { place: Place::of(event), method: method.map(Into::into), path: path.map(Into::into), pairs };
            self.request = Some(request);
            self.told = false;
        } else if let Some(request) = &mut self.request
            && request.pairs == Pairs::default()
        {
            request.pairs = pairs;
        }
        self.sent = true;
        self.connected = true;
    }

    fn request_told(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        if let Some(request) = self.request.as_ref().filter(|_| !self.told) {
            self.tell(&request.place, self.reach(ReachStage::Attempted), out);
            self.told = true;
        }
    }

    /// Bytes came in. Only the head of an HTTP answer proves that the request was answered.
    pub(super) fn receive(&mut self, event: &Event<'_>, status: Option<u16>, out: &mut dyn FnMut(&Event<'_>)) {
        self.request_told(out);
        if let Some(status) = status
            && self.request.is_some()
        {
            let reach = Reach { status: Some(status), ..self.reach(ReachStage::Answered) };
            self.tell(&Place::of(event), reach, out);
            self.request = None;
        }
    }

    /// The descriptor or its process is gone.
    pub(super) fn end(&mut self, out: &mut dyn FnMut(&Event<'_>)) {
        self.request_told(out);
        if !self.sent {
            // Nothing went out: the connection alone is a hint (address selection connects datagram sockets).
            self.tell(&self.place, self.reach(ReachStage::Announced), out);
        }
    }
}
