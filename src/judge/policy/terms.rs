//! What a policy says about the calls, contacts and sources of a case, and which of it did not apply.
//!
//! Names are compared exactly. A run is known under the names that logs give its server; only where none does, under the
//! one that the server gives itself: who may choose its name must not choose its policy.

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Assumption, Effect, KeyTerm, Policy,
    contrary::{self, Contradiction, Contrary},
    keys::{self, KeyUse},
    rivals::{self, Rivals},
};
use crate::{
    correlate::{Case, Contact, Run, Strand},
    event::{Direction, SourceId},
    symbol::Symbol,
};

/// What is declared about a call.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Its tool.
    pub tool: Symbol,
    /// The effect of the tool, by the policy or by an annotation that the policy trusts. None where the records show
    /// that it is not so.
    pub effect: Option<(Effect, Assumption)>,
    /// It changes nothing on the host of its server.
    pub nothing_local: Option<Assumption>,
    /// Where its key stands. None where the records show that the tool does not pass it on.
    pub key: Option<KeyTerm>,
    /// A place of its key is declared, whatever the records show.
    pub keyed: bool,
}

/// Something that the policy declares and that did not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// `policy.toml:3`.
    pub place: Arc<str>,
    /// What it does not fit, as a fragment.
    pub why: String,
}

/// A policy, applied to a case.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    grants: Vec<Grant>,
    of_call: FxHashMap<u32, u32>,
    keys: FxHashMap<(u32, u64), KeyUse>,
    complete: FxHashMap<u32, Assumption>,
    own: FxHashMap<Symbol, Assumption>,
    rivals: FxHashMap<u32, Rivals>,
    /// What the records contradict.
    pub contradictions: Vec<Contradiction>,
    /// What did not apply, in the order of the file's kinds.
    pub unused: Vec<Unused>,
}

impl Policy {
    /// Marks the contacts that went to own endpoints.
    pub fn mark_own(&self, case: &mut Case) {
        if self.own.is_empty() {
            return;
        }
        let mut known: FxHashMap<Symbol, bool> = FxHashMap::default();
        for contact in &mut case.contacts {
            let target = contact.target;
            let is_own = || self.own.iter().any(|own| own.is(case.symbols.name(target)));
            contact.own = *known.entry(target).or_insert_with(is_own);
        }
        case.note_reach();
    }

    /// Applies the policy to a case whose contacts were marked; `paths` are those of its sources, as reports show them.
    pub fn apply(&self, case: &Case, paths: &[String]) -> Terms {
        let mut terms = Terms::default();
        self.own_endpoints(case, &mut terms);
        self.complete_sources(case, paths, &mut terms);
        Grants::new(self, case).give(&mut terms);
        contrary::strike(case, &mut terms.grants, &terms.of_call, &mut terms.contradictions);
        terms.rivals = rivals::of(case, &terms.grants, &terms.of_call);
        terms.keys = keys::uses(case, &mut terms.grants, &terms.of_call, &mut terms.contradictions);
        self.without_key(&mut terms);
        let at = |unused: &Unused| unused.place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok());
        terms.unused.sort_by_key(at);
        terms
    }

    fn own_endpoints(&self, case: &Case, terms: &mut Terms) {
        let targets: BTreeSet<Symbol> =
            case.contacts.iter().filter(|contact| contact.own).map(|contact| contact.target).collect();
        for own in &self.own {
            let mut used = false;
            for target in targets.iter().filter(|target| own.is(case.name(**target))) {
                used = true;
                terms.own.entry(*target).or_insert_with(|| own.assumption.clone());
            }
            if !used {
                terms.unused(&own.assumption.place, "no contact with this endpoint is in the input".to_owned());
            }
        }
    }

    fn complete_sources(&self, case: &Case, paths: &[String], terms: &mut Terms) {
        for term in &self.sources {
            let mut used = false;
            let fitting = (0_u32..).zip(paths).filter(|(_, path)| term.paths.is_match(path));
            for (index, path) in fitting {
                used = true;
                let Some(source) = case.sources.get(index as usize) else { continue };
                if source.lossy {
                    let why = format!("{path} lost data while it was read, or before: it is not complete");
                    terms.unused(&term.assumption.place, why);
                } else if let Some(contact) = contrary::missed(case, index) {
                    terms.contradictions.push(Contradiction {
                        what: Contrary::Missed,
                        tool: None,
                        assumption: term.assumption.clone(),
                        run: contact.run,
                        call: None,
                        mark: contact.attempt,
                    });
                } else {
                    terms.complete.insert(index, term.assumption.clone());
                }
            }
            if !used {
                terms.unused(&term.assumption.place, "no source has such a path".to_owned());
            }
        }
    }

    /// Keys that are declared and that no call of the tool has.
    fn without_key(&self, terms: &mut Terms) {
        for (tool, key) in self.tools.iter().filter_map(|tool| Some((tool, tool.key.as_ref()?))) {
            let mine = |grant: &Grant| grant.key.as_ref().is_some_and(|mine| mine.assumption == key.assumption);
            let mut grants =
                (0_u32..).zip(&terms.grants).filter(|(_, grant)| mine(grant)).map(|(grant, _)| grant).peekable();
            let is_used = |grant: u32| terms.keys.keys().any(|(used, _)| *used == grant);
            if grants.peek().is_some() && !grants.any(is_used) {
                let why = format!("no call of the tool \"{}\" has a key at {}", tool.name, key.pointer);
                terms.unused(&key.assumption.place, why);
            }
        }
    }
}

impl Terms {
    /// What is declared about a call.
    pub fn of_call(&self, call: u32) -> Option<&Grant> {
        self.grants.get(*self.of_call.get(&call)? as usize)
    }

    /// The key of a call, where it stands where the policy says.
    pub fn key_of(&self, case: &Case, index: u32) -> Option<(&KeyTerm, KeyUse)> {
        let grant = *self.of_call.get(&index)?;
        let term = self.grants.get(grant as usize)?.key.as_ref()?;
        let key = case.declared_key(&case.calls[index as usize]);
        Some((term, *self.keys.get(&(grant, key))?))
    }

    /// That a source records every contact with the outside.
    pub fn complete(&self, source: SourceId) -> Option<&Assumption> {
        self.complete.get(&source.0)
    }

    /// Whether the endpoint of any contact is not outside.
    pub fn name_own_endpoints(&self) -> bool {
        !self.own.is_empty()
    }

    /// That the endpoint of a contact is not outside.
    pub fn own(&self, contact: &Contact) -> Option<&Assumption> {
        self.own.get(&contact.target).filter(|_| contact.own)
    }

    /// A call of the same absorbing tool with other arguments that may have come behind this one.
    pub fn another_since(&self, case: &Case, call: u32) -> Option<u32> {
        self.rivals.get(self.of_call.get(&call)?)?.since(case, call)
    }

    fn unused(&mut self, place: &Arc<str>, why: String) {
        self.unused.push(Unused { place: Arc::clone(place), why });
    }
}

/// A trusted server by its entry, one of its tools, and what it annotates it with.
type Annotated = (usize, Symbol, Effect);

/// What is declared about tools, handed to their calls.
struct Grants<'p, 'c> {
    policy: &'p Policy,
    case: &'c Case,
    /// By entry: whether a call was found.
    used: Vec<bool>,
    /// Trusted servers by run.
    trusted: FxHashMap<u32, usize>,
    /// By entry, and by tool and effect of a trusted server.
    known: FxHashMap<(Option<usize>, Option<Annotated>), u32>,
}

impl<'p, 'c> Grants<'p, 'c> {
    fn new(policy: &'p Policy, case: &'c Case) -> Self {
        Self {
            policy,
            case,
            used: vec![false; policy.tools.len()],
            trusted: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    fn give(mut self, terms: &mut Terms) {
        let names: Vec<FxHashSet<Symbol>> = self.case.runs.iter().map(|run| names(self.case, run)).collect();
        self.trust(&names, terms);
        for (index, call) in (0_u32..).zip(&self.case.calls) {
            if call.direction != Direction::ToServer || self.case.name(call.method) != "tools/call" {
                continue;
            }
            let Some(tool) = call.target else { continue };
            let entry = self.entry(self.case.name(tool), names.get(call.run as usize));
            let annotated = self.annotated(call.run, tool);
            if entry.is_some() || annotated.is_some() {
                let grant = self.grant(entry, annotated, tool, &mut terms.grants);
                terms.of_call.insert(index, grant);
            }
        }
        for (tool, _) in self.policy.tools.iter().zip(&self.used).filter(|(_, used)| !**used) {
            let of = tool.server.as_ref().map_or_else(String::new, |server| format!(" of the server \"{server}\""));
            terms.unused(&tool.place, format!("no call of the tool \"{}\"{of} is in the input", tool.name));
        }
    }

    fn trust(&mut self, names: &[FxHashSet<Symbol>], terms: &mut Terms) {
        for (entry, server) in self.policy.servers.iter().enumerate() {
            let name = self.case.symbols.get(&server.name);
            let runs = (0_u32..).zip(names).filter(|(_, names)| name.is_some_and(|name| names.contains(&name)));
            let before = self.trusted.len();
            self.trusted.extend(runs.map(|(run, _)| (run, entry)));
            if self.trusted.len() == before {
                let why = format!("no server \"{}\" is in the input", server.name);
                terms.unused(&server.assumption.place, why);
            }
        }
    }

    fn entry(&mut self, tool: &str, names: Option<&FxHashSet<Symbol>>) -> Option<usize> {
        let served = |server: &str| {
            let name = self.case.symbols.get(server);
            name.zip(names).is_some_and(|(name, names)| names.contains(&name))
        };
        let fits = |entry: &super::ToolTerm| *entry.name == *tool && entry.server.as_deref().is_none_or(served);
        let entry = self.policy.tools.iter().position(fits)?;
        self.used[entry] = true;
        Some(entry)
    }

    fn annotated(&self, run: u32, tool: Symbol) -> Option<Annotated> {
        let entry = *self.trusted.get(&run)?;
        let run = self.case.runs.get(run as usize)?;
        Some((entry, tool, annotation(self.case, run, tool)?))
    }

    fn grant(
        &mut self,
        entry: Option<usize>,
        annotated: Option<Annotated>,
        tool: Symbol,
        grants: &mut Vec<Grant>,
    ) -> u32 {
        *self.known.entry((entry, annotated)).or_insert_with(|| {
            let term = entry.map(|entry| &self.policy.tools[entry]);
            let declared = term.and_then(|term| term.effect.clone());
            let trusted =
                || annotated.map(|(server, _, effect)| (effect, self.policy.servers[server].assumption.clone()));
            let key = term.and_then(|term| term.key.clone());
            grants.push(Grant {
                tool,
                effect: declared.or_else(trusted),
                nothing_local: term.and_then(|term| term.nothing_local.clone()),
                keyed: key.is_some(),
                key,
            });
            u32::try_from(grants.len() - 1).expect("fewer than 2^32 grants")
        })
    }
}

/// The names under which the server of a run is known.
fn names(case: &Case, run: &Run) -> FxHashSet<Symbol> {
    let strands = || run.strands.iter().map(|strand| &case.strands[*strand as usize]);
    let given = |strand: &Strand| strand.server.filter(|_| strand.server != strand.server_info);
    let given: FxHashSet<Symbol> = strands().filter_map(given).collect();
    if given.is_empty() { strands().filter_map(|strand| strand.server).collect() } else { given }
}

/// The effect that all lists of a run annotate a tool with, as long as no notice says that the lists are old.
fn annotation(case: &Case, run: &Run, tool: Symbol) -> Option<Effect> {
    let mut found: Option<Effect> = None;
    for strand in run.strands.iter().map(|strand| &case.strands[*strand as usize]) {
        let last = strand.tools.last().map(|list| list.mark.origin);
        if strand.tools_changed.is_some_and(|changed| last.is_none_or(|last| last < changed.origin)) {
            return None;
        }
        for list in &strand.tools {
            let Some(facts) = list.tools.iter().find(|facts| facts.name == tool) else { continue };
            let effect = match (facts.read_only, facts.idempotent) {
                (true, _) => Effect::None,
                (false, true) => Effect::Absorbing,
                (false, false) => return None,
            };
            // The weaker of two annotations that differ.
            found = Some(found.map_or(effect, |known| known.max(effect)));
        }
    }
    found
}
