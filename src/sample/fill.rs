//! Missing cells of given sequences.
//! In: a request whose rows have unknown cells, and which sequences to fill. Out: [`FilledSequences`].

use super::follow::FilledCell;
use super::sequences::Decided;
use super::{Chunk, Networks, Request, SampleError};
use crate::constraint::Rules;
use crate::layout::Layout;
use crate::rng::Purpose;

/// What was drawn for the missing cells of some sequences.
#[derive(Debug, Clone)]
pub(crate) struct FilledSequences {
    /// Their numbers in the request.
    pub(crate) sequences: Vec<usize>,
    /// Their contexts, one value a sequence, by position in the layout's context.
    pub(crate) context: Vec<Decided>,
    /// The drawn cells of their rows.
    pub(crate) cells: Vec<FilledCell>,
}

/// Fills the missing cells of these sequences of a request.
pub(crate) fn fill_chunk(
    networks: &Networks,
    layout: &Layout,
    rules: &Rules,
    request: &Request,
    sequences: &[usize],
) -> Result<FilledSequences, SampleError> {
    tch::no_grad(|| {
        let own = sequences.iter().copied();
        let mut chunk = Chunk::new(networks, layout, rules, request, Purpose::Imputation, own);
        chunk.draw_context()?;
        let mut filled = FilledSequences {
            sequences: sequences.to_vec(),
            context: Vec::new(),
            cells: Vec::new(),
        };
        if let Some(given) = &request.given_rows {
            let contexts = networks.sequence.context(&chunk.context_inputs()?)?;
            let followed = chunk.follow(given, &contexts)?;
            let origins: Vec<usize> = followed.walks.iter().map(|walk| walk.origin).collect();
            filled.context = chunk.context.iter().map(|c| c.take(&origins)).collect();
            filled.cells = followed.filled.into_iter().flatten().collect();
        }
        Ok(filled)
    })
}
