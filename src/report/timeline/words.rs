//! The word for an event: that of the phase log where there is one, else a short one that claims no more than was seen.

use crate::{
    correlate::{AnswerKind, Seen, StrandFact, ToldKind},
    event::{ReachStage, RemarkKind},
    judge::call::{Link, LinkKind},
};

/// The word for a record of a call.
pub(super) fn of_link(link: &Link, answer: AnswerKind) -> &'static str {
    let ladder = |other: &'static str| link.event.map_or(other, |event| event.name());
    match link.what {
        LinkKind::Contact(stage) => of_stage(stage),
        LinkKind::Result => "external_result",
        LinkKind::SameContact => "external_attempt",
        LinkKind::Call(seen) => match seen {
            Seen::Responded | Seen::Delivered if link.event.is_none() => instead_of_an_answer(answer),
            _ => of_seen(seen).unwrap_or_else(|| ladder("record")),
        },
    }
}

/// The word for what stands where an answer of the server should be.
fn instead_of_an_answer(answer: AnswerKind) -> &'static str {
    match answer {
        AnswerKind::NotSent => "not_connected",
        AnswerKind::HttpError => "http_error",
        AnswerKind::StreamIncomplete => "stream_ended",
        AnswerKind::Malformed => "malformed_answer",
        AnswerKind::InvalidEnvelope => "invalid_answer",
        AnswerKind::NotCaptured => "exchange_ended",
        _ => "answer",
    }
}

/// The word for what a witness saw of a call, where the ladder has none of its own for it.
fn of_seen(seen: Seen) -> Option<&'static str> {
    Some(match seen {
        Seen::Queued => "request_queued",
        Seen::Handled => "handler_ran",
        Seen::ServerRequest => "asked_the_client",
        Seen::HandlerDone => "handler_ended",
        Seen::LateAnswer => "late_answer",
        Seen::OtherAnswer => "another_answer",
        Seen::ReplyLost => "answer_not_delivered",
        Seen::AnswerRejected => "answer_rejected",
        Seen::Cancelled => "cancelled",
        Seen::TimedOut => "timed_out",
        Seen::ConnectionClosed => "connection_closed",
        Seen::ProcessEnded => "process_ended",
        Seen::NotConnected => "not_connected",
        Seen::WriteFailed => "write_failed",
        Seen::CallFailed => "client_says_failed",
        Seen::CallSucceeded => "client_says_success",
        Seen::RefusedBeforeDispatch => "refused_before_dispatch",
        Seen::NotForwarded => "not_forwarded",
        Seen::ForwardedOnce => "forwarded",
        Seen::ForwardedAgain => "forwarded_again",
        Seen::UpstreamBroken => "upstream_broken",
        Seen::HiddenRetry => "hidden_retry",
        Seen::Resent => "request_sent_again",
        Seen::Resumed => "stream_resumed",
        Seen::Contested => "may_be_of_this_call",
        Seen::Sent
        | Seen::Received
        | Seen::Responded
        | Seen::Delivered
        | Seen::AuthorizationRequested
        | Seen::AuthorizationGranted
        | Seen::AuthorizationDenied => return None,
    })
}

/// The word for a record that belongs to no call.
pub(super) fn of_strand(fact: StrandFact) -> &'static str {
    match fact {
        StrandFact::Step(event) => event.name(),
        StrandFact::Signaled => "killed_by_signal",
        StrandFact::SpawnFailed(_) => "spawn_failed",
        StrandFact::Remark(kind) => of_remark(kind),
        StrandFact::Pollution => "stdout_pollution",
        StrandFact::Trouble(_) => "crash",
        StrandFact::ToolsReason => "tools_list_reason",
        StrandFact::Unasked { .. } => "answer_to_unseen_request",
        StrandFact::Unreadable => "unreadable_message",
        StrandFact::Nameless => "request_without_id",
        StrandFact::Uncancelled => "cancelled_unseen_call",
        StrandFact::Stream => "stream",
        StrandFact::VersionRejected => "version_rejected",
    }
}

/// The word for an event that left no fact.
pub(super) fn of_told(kind: ToldKind) -> &'static str {
    match kind {
        ToldKind::Request => "request",
        ToldKind::Notification => "notification",
        ToldKind::Answer => "answer",
        ToldKind::Malformed => "malformed_message",
        ToldKind::NotRpc => "not_a_message",
        ToldKind::Exchange => "http_exchange",
        ToldKind::Access => "http_access",
        ToldKind::Step(event) => event.name(),
        // What is no contact among the facts went perhaps to the MCP endpoint itself.
        ToldKind::Reach(ReachStage::Announced) => "outbound_announced",
        ToldKind::Reach(ReachStage::NotConnected) => "outbound_not_connected",
        ToldKind::Reach(_) => "outbound_request",
        ToldKind::Remark(kind) => of_remark(kind),
        ToldKind::Span => "span",
        ToldKind::Summary => "call_summary",
        ToldKind::Pollution => "stdout_pollution",
        ToldKind::Trouble(_) => "crash",
    }
}

/// The word for a contact with the outside.
pub(super) fn of_stage(stage: ReachStage) -> &'static str {
    match stage {
        ReachStage::Announced => "external_announced",
        ReachStage::NotConnected => "external_not_connected",
        ReachStage::Attempted | ReachStage::Answered => "external_attempt",
    }
}

/// The word for a statement of a party.
fn of_remark(kind: RemarkKind) -> &'static str {
    of_client(kind).or_else(|| of_server(kind)).unwrap_or("remark")
}

fn of_client(kind: RemarkKind) -> Option<&'static str> {
    Some(match kind {
        RemarkKind::TimedOut => "timed_out",
        RemarkKind::Aborted => "cancelled",
        RemarkKind::ConnectionClosed => "connection_closed",
        RemarkKind::NotConnected => "not_connected",
        RemarkKind::ConnectFailed => "connect_failed",
        RemarkKind::WriteFailed => "write_failed",
        RemarkKind::HttpStatus => "http_error",
        RemarkKind::UnknownResponse => "answer_to_unseen_request",
        RemarkKind::AnswerRejected => "answer_rejected",
        RemarkKind::ParseFailure => "line_not_parsed",
        RemarkKind::VersionRejected => "version_rejected",
        RemarkKind::Connected => "connected",
        RemarkKind::ToolsDiscovered => "tools_discovered",
        RemarkKind::CallAnnounced => "call_announced",
        RemarkKind::CallSucceeded => "client_says_success",
        RemarkKind::CallFailed => "client_says_failed",
        RemarkKind::AwaitingApproval => "awaiting_approval",
        RemarkKind::ShuttingDown => "shutting_down",
        RemarkKind::PipeClosed => "pipe_closed",
        RemarkKind::StreamBroken => "stream_broken",
        RemarkKind::InstanceStart => "instance_start",
        RemarkKind::SessionCreated => "session_created",
        RemarkKind::SessionEnded => "session_ended",
        _ => return None,
    })
}

fn of_server(kind: RemarkKind) -> Option<&'static str> {
    Some(match kind {
        RemarkKind::SessionRefused => "session_refused",
        RemarkKind::Processing => "processing",
        RemarkKind::HandlerEntered => "handler_ran",
        RemarkKind::HandlerRaised | RemarkKind::HandlerReturned => "handler_ended",
        RemarkKind::ReplyLost => "answer_not_delivered",
        RemarkKind::RefusedBeforeDispatch => "refused_before_dispatch",
        RemarkKind::ServerWriteFailed => "server_write_failed",
        RemarkKind::Listening => "listening",
        RemarkKind::ProcessStarted => "process_started",
        RemarkKind::ServerStopping => "server_stopping",
        RemarkKind::Killed => "killed",
        RemarkKind::RunnerBusy => "runner_busy",
        RemarkKind::RunnerFailed => "runner_failed",
        RemarkKind::ForwardsTo => "forwards_to",
        RemarkKind::Forwarding => "forwarding",
        RemarkKind::NotForwarded => "not_forwarded",
        RemarkKind::UpstreamBroken => "upstream_broken",
        RemarkKind::AnswerInspected => "answer_inspected",
        RemarkKind::HiddenRetry => "hidden_retry",
        RemarkKind::NetworkTraced => "network_traced",
        RemarkKind::FileWritten => "file_written",
        RemarkKind::LevelChanged => "log_level_changed",
        RemarkKind::ChildProcess => "child_process",
        _ => return None,
    })
}
