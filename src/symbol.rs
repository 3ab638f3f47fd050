//! Interned names: the only text that crosses from decoding to correlation.
//!
//! A name is a method, a tool, a host, a server, a run id: few different ones, seen often. Free text never enters.

use std::{borrow::Cow, num::NonZeroU32};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

/// A name, as a number that is equal exactly when the names are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(NonZeroU32);

impl Symbol {
    /// Its number, counted from 1 in the order of interning.
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

/// The longest name kept whole, in bytes.
const NAME_LIMIT: usize = 256;

/// A name as it is kept. A longer one is cut at a character boundary; the digest of the whole name stands behind the
/// cut, because tokens and generated ids differ only at their ends.
fn kept(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_LIMIT {
        return Cow::Borrowed(name);
    }
    let mut cut = NAME_LIMIT;
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    Cow::Owned(format!("{}…{:032x}", &name[..cut], xxh3_128(name.as_bytes())))
}

/// All names of one analysis. The order of interning is the order of reading, which is stable.
#[derive(Debug, Default)]
pub struct Symbols {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, Symbol>,
}

impl Symbols {
    /// The symbol of a name; makes one if the name is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(name) {
            return symbol;
        }
        self.add(&kept(name))
    }

    fn add(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(name) {
            return symbol;
        }
        self.names.push(name.into());
        let number = u32::try_from(self.names.len()).ok().and_then(NonZeroU32::new);
        let symbol = Symbol(number.expect("fewer than 2^32 names fit in memory"));
        self.numbers.insert(name.into(), symbol);
        symbol
    }

    /// The symbol of a name that was seen before.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.numbers.get(&*kept(name)).copied()
    }

    /// The name behind a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0.get() as usize - 1]
    }

    /// How many different names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no name was interned.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_symbols() {
        let mut symbols = Symbols::default();
        let a = symbols.intern("tools/call");
        assert_eq!(a, symbols.intern("tools/call"));
        assert_ne!(a, symbols.intern("tools/list"));
        assert_eq!(symbols.name(a), "tools/call");
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        let mut symbols = Symbols::default();
        let long = "ä".repeat(400);
        let a = symbols.intern(&long);
        assert!(symbols.name(a).len() <= NAME_LIMIT + '…'.len_utf8() + 32);
        assert_eq!(a, symbols.intern(&long));
    }

    #[test]
    fn long_names_differ_by_their_ends() {
        let mut symbols = Symbols::default();
        let (one, two) = (format!("{}1", "s".repeat(400)), format!("{}2", "s".repeat(400)));
        let a = symbols.intern(&one);
        assert_ne!(a, symbols.intern(&two));
        assert_eq!(symbols.get(&one), Some(a));
        assert_eq!(symbols.get(&format!("{}3", "s".repeat(400))), None);
    }
}
