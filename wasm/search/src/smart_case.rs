//! Smart case: a pattern that is written in lower case is searched in both.

use regex_syntax::ast::{self, Ast};

/// True if the pattern has a literal character and none in upper case. Classes like `\S` or `\p{Lu}` do not count.
#[must_use]
pub fn ignores_case(ast: &Ast) -> bool {
    let mut seen = Seen::default();
    seen.look_at(ast);
    seen.literal && !seen.upper_case
}

#[derive(Default)]
struct Seen {
    literal: bool,
    upper_case: bool,
}

impl Seen {
    fn look_at(&mut self, ast: &Ast) {
        match ast {
            Ast::Empty(_)
            | Ast::Flags(_)
            | Ast::Dot(_)
            | Ast::Assertion(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_) => {}
            Ast::Literal(literal) => self.take(literal),
            Ast::ClassBracketed(class) => self.look_at_set(&class.kind),
            Ast::Repetition(repetition) => self.look_at(&repetition.ast),
            Ast::Group(group) => self.look_at(&group.ast),
            Ast::Alternation(alternation) => alternation.asts.iter().for_each(|part| self.look_at(part)),
            Ast::Concat(concat) => concat.asts.iter().for_each(|part| self.look_at(part)),
        }
    }

    fn look_at_set(&mut self, set: &ast::ClassSet) {
        match set {
            ast::ClassSet::Item(item) => self.look_at_item(item),
            ast::ClassSet::BinaryOp(operation) => {
                self.look_at_set(&operation.lhs);
                self.look_at_set(&operation.rhs);
            }
        }
    }

    fn look_at_item(&mut self, item: &ast::ClassSetItem) {
        use ast::ClassSetItem::{Ascii, Bracketed, Empty, Literal, Perl, Range, Unicode, Union};
        match item {
            Empty(_) | Ascii(_) | Unicode(_) | Perl(_) => {}
            Literal(literal) => self.take(literal),
            Range(range) => {
                self.take(&range.start);
                self.take(&range.end);
            }
            Bracketed(class) => self.look_at_set(&class.kind),
            Union(union) => union.items.iter().for_each(|part| self.look_at_item(part)),
        }
    }

    fn take(&mut self, literal: &ast::Literal) {
        self.literal = true;
        self.upper_case = self.upper_case || literal.c.is_uppercase();
    }
}
