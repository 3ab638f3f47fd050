//! The worlds that remain: which assignments of the four milestones fit what is known of an attempt.
//!
//! A pure function of the milestones; what they rest on is not its business.

use super::milestones::{Milestones, Truth};

/// One assignment of the four milestones: what may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct World {
    /// Bytes left the client.
    pub sent: bool,
    /// The server dispatched it.
    pub reached: bool,
    /// Something changed, outside or on the server's own host.
    pub effected: bool,
    /// The caller saw an answer made by the server.
    pub acked: bool,
}

impl World {
    /// Whether it can be at all: what was not sent was not reached, what was not reached has no effect and no answer.
    /// Only a request that is known to be refused before its dispatch has an answer without one: the refusal.
    fn is_possible(self, refused: bool) -> bool {
        (self.sent || !self.reached && !self.acked)
            && (self.reached || !self.effected)
            && (self.reached || !self.acked || refused)
    }
}

impl Truth {
    /// Whether a milestone of this value may be so. Where witnesses contradict each other, either may be right.
    fn allows(self, value: bool) -> bool {
        match self {
            Self::None | Self::Both => true,
            Self::True => value,
            Self::False => !value,
        }
    }
}

/// Every assignment that the milestones and the order of cause and effect allow, from the one in which least happened.
/// None is left only where the milestones contradict that order.
pub fn worlds(known: &Milestones) -> Vec<World> {
    let refused = known.reached == Truth::False;
    let values = [false, true];
    let all = values.into_iter().flat_map(|sent| values.map(|reached| (sent, reached)));
    let all = all.flat_map(|(sent, reached)| values.map(|effected| (sent, reached, effected)));
    let all = all.flat_map(|(sent, reached, effected)| values.map(|acked| World { sent, reached, effected, acked }));
    let fits = |world: &World| {
        known.sent.allows(world.sent)
            && known.reached.allows(world.reached)
            && known.effected.allows(world.effected)
            && known.acked.allows(world.acked)
    };
    all.filter(|world| fits(world) && world.is_possible(refused)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Truth::{Both, False, None, True};

    const ALL: [Truth; 4] = [None, True, False, Both];

    /// The remaining worlds as letters of what happened: `sr` is sent and reached.
    fn left(sent: Truth, reached: Truth, effected: Truth, acked: Truth) -> Vec<String> {
        let letters = |world: World| {
            let all = [(world.sent, 's'), (world.reached, 'r'), (world.effected, 'e'), (world.acked, 'a')];
            all.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect()
        };
        worlds(&Milestones { sent, reached, effected, acked }).into_iter().map(letters).collect()
    }

    #[test]
    fn nothing_known_leaves_every_possible_world() {
        assert_eq!(left(None, None, None, None), ["", "s", "sr", "sra", "sre", "srea"]);
    }

    #[test]
    fn what_is_known_of_one_milestone_tells_of_the_others() {
        assert_eq!(left(True, None, None, False), ["s", "sr", "sre"]);
        assert_eq!(left(None, None, None, True), ["sra", "srea"]);
        assert_eq!(left(None, None, True, None), ["sre", "srea"]);
        assert_eq!(left(False, None, None, None), [""]);
        assert_eq!(left(None, True, False, None), ["sr", "sra"]);
    }

    #[test]
    fn a_refusal_is_an_answer_without_a_dispatch() {
        assert_eq!(left(True, False, False, True), ["sa"]);
        assert_eq!(left(True, False, None, None), ["s", "sa"]);
    }

    #[test]
    fn a_contradiction_excludes_nothing() {
        assert_eq!(left(True, Both, None, False), ["s", "sr", "sre"]);
        assert_eq!(left(Both, Both, Both, Both), left(None, None, None, None));
    }

    #[test]
    fn every_world_keeps_the_order_of_cause_and_effect() {
        for (sent, reached) in ALL.into_iter().flat_map(|sent| ALL.map(|reached| (sent, reached))) {
            for (effected, acked) in ALL.into_iter().flat_map(|effected| ALL.map(|acked| (effected, acked))) {
                let known = Milestones { sent, reached, effected, acked };
                let worlds = worlds(&known);
                assert!(worlds.is_sorted(), "{known:?}");
                for world in &worlds {
                    assert!(world.sent || !world.reached && !world.acked && !world.effected, "{known:?}: {world:?}");
                    assert!(world.reached || !world.effected, "{known:?}: {world:?}");
                    assert!(world.reached || !world.acked || reached == False, "{known:?}: {world:?}");
                }
                let denied =
                    sent == False && [reached, effected, acked].contains(&True) || reached == False && effected == True;
                assert_eq!(worlds.is_empty(), denied, "{known:?}");
            }
        }
    }
}
