//! The parts of QCSP, QCSP+ and QCOP+ instances beyond a network: the scopes of the variables,
//! with their restrictors and criteria.

use ludex_base::Deadline;
use ludex_csp::{Constraint, Expr, VarId, Variable};
use ludex_qcsp::{Model, Quantifier, ScopeId};

use super::super::xml::Node;
use super::Reader;
use crate::FormatError;

/// Reads the element of an instance of the frameworks QCSP, QCSP+ and QCOP+.
///
/// # Errors
/// As [`read_by`](super::read_by).
pub fn read_quantified(root: &Node, deadline: &Deadline) -> Result<Model, FormatError> {
    let mut reader = Reader { deadline: deadline.clone(), ..Reader::default() };
    let mut prefix = None;
    let mut goals = Vec::new();
    for child in &root.children {
        match &*child.name {
            "quantification" if prefix.is_some() => {
                return Err(child.error("the quantification is stated twice"));
            }
            "quantification" => prefix = Some(child),
            "constraints" => goals.push(child),
            "objectives" => return Err(child.unsupported("an objective beside the scopes")),
            _ => reader.part(child)?,
        }
    }
    let prefix = prefix.ok_or_else(|| root.error("there is no `quantification`"))?;
    let renamed = vec![None; reader.network.variables().len()];
    let mut builder = Builder { reader, model: Model::new(), renamed };
    let mut criteria = Vec::new();
    for block in &prefix.children {
        criteria.extend(builder.scope(block)?);
    }
    for goal in goals {
        for constraint in builder.constraints(goal)? {
            builder.model.goal_constraint(constraint);
        }
    }
    for (scope, criterion) in criteria {
        builder.criterion(scope, criterion)?;
    }
    let Builder { reader, model, .. } = builder;
    reader.finish()?;
    match model.check().into_iter().next() {
        Some(error) => Err(FormatError::Meaning { line: None, problem: error.into() }),
        None => Ok(model),
    }
}

struct Builder {
    reader: Reader,
    model: Model,
    /// By variable of the file: its variable in the model, once its scope was read.
    renamed: Vec<Option<VarId>>,
}

impl Builder {
    /// Adds a scope; returns the element of its criterion, which may refer to later scopes.
    fn scope<'a>(&mut self, block: &'a Node) -> Result<Option<(ScopeId, &'a Node)>, FormatError> {
        let quantifier = match &*block.name {
            "exists" => Quantifier::Exists,
            "forall" => Quantifier::Forall,
            other => return Err(block.unsupported(format!("`{other}` in `quantification`"))),
        };
        let scope = self.model.open((self.model.scopes().len() + 1).to_string(), quantifier);
        for x in self.list(block.child("list").unwrap_or(block))? {
            let place = self.renamed.get_mut(x.index()).filter(|place| place.is_none());
            let place = place.ok_or_else(|| block.error("a variable is quantified twice"))?;
            let Variable { name, domain, .. } = self.reader.network.variable(x).clone();
            let variable = Variable { name, domain, labels: None };
            *place = Some(self.model.variable_with(variable, None));
        }
        if let Some(node) = block.child("constraints") {
            for constraint in self.constraints(node)? {
                self.model.restrict(constraint);
            }
        }
        let criterion = block.child("minimize").or_else(|| block.child("maximize"));
        Ok(criterion.map(|criterion| (scope, criterion)))
    }

    fn criterion(&mut self, scope: ScopeId, node: &Node) -> Result<(), FormatError> {
        let [x] = self.list(node)?[..] else {
            return Err(node.error("a criterion is one variable"));
        };
        let x = self.renamed[x.index()]
            .ok_or_else(|| node.error("a criterion is a variable of a scope"))?;
        if node.name == "minimize" {
            self.model.minimize(scope, x);
        } else {
            self.model.maximize(scope, x);
        }
        Ok(())
    }

    /// Reads the variables of an element.
    fn list(&self, node: &Node) -> Result<Vec<VarId>, FormatError> {
        let mut variables = Vec::new();
        for token in node.text.split_whitespace() {
            variables.extend(self.reader.vars(token).map_err(|problem| node.error(problem))?);
        }
        Ok(variables)
    }

    /// Reads the constraints of an element, on the variables of the scopes so far.
    fn constraints(&mut self, node: &Node) -> Result<Vec<Constraint>, FormatError> {
        let n_before = self.reader.network.constraints().len();
        self.reader.constraints(node)?;
        let stated = &self.reader.network.constraints()[n_before..];
        let lines = &self.reader.lines.constraints[n_before..];
        let known = |x: VarId| self.renamed.get(x.index()).copied().flatten();
        let renamed = |(constraint, &line): (&Constraint, &usize)| {
            if constraint.scope().into_iter().any(|x| known(x).is_none()) {
                let problem = format!(
                    "a constraint `{}` uses a variable of a later scope, or of none",
                    constraint.name()
                );
                return Err(FormatError::Syntax { line, problem });
            }
            let var = |x: VarId| known(x).expect("checked above");
            Ok(constraint.renamed(&var, &|x| Expr::Var(var(x))))
        };
        stated.iter().zip(lines).map(renamed).collect()
    }
}
