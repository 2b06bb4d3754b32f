//! A way to end work from another thread.
//! In: [`CancelToken::cancel`], from anywhere. Out: work that looks at the token stops soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends the work it is given to: clones are one token, so keep one, and give the other to the options.
///
/// ```
/// # use parsynth::{CancelToken, Error, Metadata, ParSynthesizer, SampleOptions, read_csv};
/// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
/// # let data = read_csv("data/stores.csv", &metadata)?;
/// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
/// let token = CancelToken::new();
/// let options = SampleOptions::sequences(1_000_000_000).cancel_token(token.clone());
/// let stop_soon = std::thread::spawn(move || token.cancel());
/// assert!(matches!(synthesizer.sample_with(&options), Err(Error::Cancelled)));
/// # stop_soon.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled.
    #[must_use]
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Asks the work to end; there is no way back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
