//! What can be fetched to settle an open verdict, in the order in which to fetch it. The one table of that order.

/// Something to fetch. In the order of [`ARTIFACTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Artifact {
    /// The rest of files of which the input has a part.
    Rest,
    /// The log of the hop in front of the server.
    GatewayLog,
    /// Phases of a server whose other words were read.
    ServerPhases,
    /// Anything that the server wrote.
    ServerLog,
    /// Everything that the client sent.
    ClientLog,
    /// The log of the service behind the tool.
    ServiceLog,
    /// A trace of a start that is yet to be made.
    TracedStart,
}

/// What is known of an artifact.
#[derive(Debug)]
pub struct ArtifactRow {
    /// Which one.
    pub artifact: Artifact,
    /// A phrase; `{server}` stands for the name of the server, `{gateway}` for the address that the client knows, and
    /// `{files}` for what the input has a part of.
    pub phrase: &'static str,
    /// What to look for in it, as a phrase.
    pub look: &'static str,
    /// Why it stands where it does in the order.
    pub why: &'static str,
}

impl Artifact {
    /// Its row.
    pub fn row(self) -> &'static ArtifactRow {
        &ARTIFACTS[self as usize]
    }
}

/// Everything that is ever asked for, cheapest first. What can no longer be had is not in it, because nobody can trace a
/// process that is gone; nor is what no verdict would change by, as the log of a firewall, which names hosts and not calls.
pub static ARTIFACTS: &[ArtifactRow] = &[
    ArtifactRow {
        artifact: Artifact::Rest,
        phrase: "{files}",
        look: "the same call sent again, and an answer to it",
        why: "Whoever sent the part has the rest: nobody has to be found or asked for access.",
    },
    ArtifactRow {
        artifact: Artifact::GatewayLog,
        phrase: "the access log of the gateway ({gateway}) with the upstream of each request",
        look: "a second upstream for its POST",
        why: "The exchange names the gateway, and whoever runs the server runs it, too: one file, one line in it.",
    },
    ArtifactRow {
        artifact: Artifact::ServerPhases,
        phrase: "the phase log of {server}",
        look: "an external_attempt of the call, or its end without one",
        why: "It lies on the host of the server, of which the input has a log already; it may not have been written.",
    },
    ArtifactRow {
        artifact: Artifact::ServerLog,
        phrase: "the stderr or phase log of {server}",
        look: "an external_attempt of the call, or its end without one",
        why: "It lies on the host of the server, which has to be found first.",
    },
    ArtifactRow {
        artifact: Artifact::ClientLog,
        phrase: "the client's log of every request, or a capture of them",
        look: "the same call sent again",
        why: "It lies on the host of the caller, who is often somebody else, and may hold their secrets.",
    },
    ArtifactRow {
        artifact: Artifact::ServiceLog,
        phrase: "the log of the service that the tool calls",
        look: "a request with the arguments of the call",
        why: "A third party keeps it, and has to be asked.",
    },
    ArtifactRow {
        artifact: Artifact::TracedStart,
        phrase: "a trace (strace -f -e trace=network,process) of one more start of {server}",
        look: "a connection or a datagram outside of any call",
        why: "It has to be made, and to start the server is just what is in question.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        for (index, row) in ARTIFACTS.iter().enumerate() {
            assert_eq!(row.artifact as usize, index);
            assert!(row.why.ends_with('.') && !row.phrase.ends_with('.') && !row.look.ends_with('.'));
        }
    }
}
