//! A client's log of one server, in the form of Claude Desktop.

use super::{Clock, File, Shows, messages};
use crate::worlds::truth::{Ask, Body, What, World};

pub(super) fn file(world: &World, clock: Clock) -> File {
    let mut file = File::of_lines("client/mcp-server-acme.log");
    for fact in &world.facts {
        let at = clock.rfc3339(fact.at);
        let mut line =
            |text: String, about| file.push(format!("{at} [acme] [info] {text} {{ metadata: undefined }}"), about);
        match &fact.what {
            What::Spawned { .. } => {
                line("Initializing server...".to_owned(), None);
                line("Server started and connected successfully".to_owned(), None);
            }
            What::Sent { attempt } => {
                line(
                    format!("Message from client: {}", messages::request(world, *attempt)),
                    Some((*attempt, Shows::Sent)),
                );
            }
            What::Delivered { attempt, answer } | What::Late { attempt, answer } => {
                if let Some(message) = messages::answer(world, *attempt, answer) {
                    line(format!("Message from server: {message}"), Some((*attempt, super::delivered(answer))));
                    if world.attempts[*attempt].ask == Ask::Initialize && answer.body == Body::Result {
                        line(format!("Message from client: {}", messages::initialized()), None);
                    }
                }
            }
            What::CancelSent { attempt } => {
                let text = format!("Message from client: {}", messages::cancelled(world, *attempt));
                line(text, Some((*attempt, Shows::About)));
            }
            What::Exited { .. } => {
                line("Server transport closed".to_owned(), None);
                line("Client transport closed".to_owned(), None);
            }
            What::Progress { dispatch } => {
                let attempt = world.dispatches[*dispatch].attempt;
                let text = format!("Message from server: {}", messages::said(world, *dispatch));
                line(text, Some((attempt, Shows::About)));
            }
            What::Asked { question } => {
                let text = format!("Message from server: {}", messages::question(world, *question));
                line(text, Some((world.asking(*question), Shows::Question(*question))));
            }
            What::Replied { question } => {
                let text = format!("Message from client: {}", messages::reply(world, *question));
                line(text, Some((world.asking(*question), Shows::Reply(*question))));
            }
            _ => {}
        }
    }
    file
}
