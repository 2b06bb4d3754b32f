//! Orders whose rules hold in every sampled row: a quantity times a price is an amount, an account adds amounts up, an
//! order is never shipped before it is placed or after the contract ends, and goes from state to state as real ones do.
//! Run it with `cargo run --release --example constraints`.

use parsynth::{Constraint, Metadata, ParSynthesizer, Relation, SampleOptions, SdType};
use polars::prelude::*;
use std::error::Error;

/// Accounts of a few orders each, made from plain arithmetic.
fn orders() -> PolarsResult<DataFrame> {
    let (mut account, mut ends, mut placed, mut shipped) = (vec![], vec![], vec![], vec![]);
    let (mut state, mut quantity, mut price) = (vec![], vec![], vec![]);
    let (mut amount, mut total) = (vec![], vec![]);
    for number in 0..60_i32 {
        let orders = 3 + number * 7 % 5;
        let mut sum = 0.0;
        for order in 0..orders {
            let day = 19_000 + 11 * number + 9 * order;
            let bought = 1 + (number + 3 * order) % 6;
            let each = f64::from(250 + (number * 37 + order * 91) % 900) / 100.0;
            let paid = (f64::from(bought) * each * 100.0).round() / 100.0;
            sum = ((sum + paid) * 100.0_f64).round() / 100.0;
            account.push(format!("A-{number:03}"));
            ends.push(19_000 + 11 * number + 60);
            placed.push(day);
            shipped.push((order + 1 < orders || number % 3 > 0).then_some(day + 1 + number % 4));
            state.push(match order {
                0 => "trial",
                _ if order + 1 == orders => "closed",
                _ => "regular",
            });
            quantity.push(bought);
            price.push(each);
            amount.push(paid);
            total.push(sum);
        }
    }
    let mut frame = df!(
        "account" => account, "contract_end" => ends, "placed" => placed, "shipped" => shipped, "state" => state,
        "amount" => amount, "quantity" => quantity, "price" => price, "total" => total
    )?;
    for name in ["contract_end", "placed", "shipped"] {
        let dates = frame.column(name)?.cast(&DataType::Date)?;
        frame.with_column(dates)?;
    }
    Ok(frame)
}

fn numbers(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<f64>>> {
    let column = frame.column(name)?.cast(&DataType::Float64)?;
    Ok(column.f64()?.iter().collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let orders = orders()?;
    let date = || SdType::Datetime { format: None };
    let metadata = Metadata::builder()
        .column("account", SdType::Id { regex_format: None })
        .column("contract_end", date())
        .column("placed", date())
        .column("shipped", date())
        .column("state", SdType::Categorical)
        .column("amount", SdType::Numerical)
        .column("quantity", SdType::Numerical)
        .column("price", SdType::Numerical)
        .column("total", SdType::Numerical)
        .sequence_key("account")
        .sequence_index("placed")
        .build()?;
    let synthesizer = ParSynthesizer::builder(metadata.clone())
        .context_columns(["contract_end"])
        .constraints([
            Constraint::range("placed", "shipped", "contract_end"),
            Constraint::unique_index("placed"),
            Constraint::formula("amount", "quantity * price"),
            Constraint::running_total("total", "amount"),
            Constraint::seen_transitions("state"),
            Constraint::first_row("state", ["trial"]),
            Constraint::scalar("price", Relation::AtLeast, 2.5),
        ])
        .epochs(20)
        .seed(7)
        .fit(&orders)?;

    // A rule that no constraint states: at most one order over 50 an account.
    let few_large = |account: &DataFrame| {
        let amounts = numbers(account, "amount").unwrap_or_default();
        amounts
            .into_iter()
            .flatten()
            .filter(|&amount| amount > 50.0)
            .count()
            <= 1
    };
    let options = SampleOptions::sequences(200)
        .seed(7)
        .custom_constraint("at most one large order", few_large);
    let synthetic = synthesizer.sample_with(&options)?;

    let column = |name| numbers(&synthetic, name);
    let (placed, shipped, end) = (
        column("placed")?,
        column("shipped")?,
        column("contract_end")?,
    );
    let (amount, quantity, price, total) = (
        column("amount")?,
        column("quantity")?,
        column("price")?,
        column("total")?,
    );
    let account = synthetic.column("account")?.str()?;
    for row in 0..synthetic.height() {
        assert!(placed[row] <= end[row]);
        assert!(
            shipped[row].is_none() || (placed[row] <= shipped[row] && shipped[row] <= end[row])
        );
        let product = quantity[row]
            .zip(price[row])
            .map(|(quantity, price)| quantity * price);
        // To a cent, as the data is written.
        assert!(
            amount[row]
                .zip(product)
                .is_some_and(|(amount, product)| (amount - product).abs() < 0.0051)
        );
        if row > 0 && account.get(row) == account.get(row - 1) {
            assert!(placed[row - 1] < placed[row]);
            let sum = total[row - 1]
                .zip(amount[row])
                .map(|(before, amount)| before + amount);
            assert!(
                total[row]
                    .zip(sum)
                    .is_some_and(|(total, sum)| (total - sum).abs() < 0.0051)
            );
        }
    }
    println!(
        "200 accounts, in which every row keeps the seven rules:\n{}",
        synthetic
            .select([
                "account", "placed", "shipped", "state", "amount", "quantity", "price", "total"
            ])?
            .head(Some(8))
    );

    // Data that breaks a rule is named with its rows, before anything is learned.
    let wrong = ParSynthesizer::builder(metadata)
        .context_columns(["contract_end"])
        .constraints([Constraint::inequality("amount", "price")])
        .fit(&orders);
    let message = wrong.err().ok_or("the data breaks the rule")?.to_string();
    assert!(message.contains("of the data's rows break it"), "{message}");
    println!(
        "\nA rule that the data itself breaks is refused before anything is learned:\n{message}"
    );
    Ok(())
}
