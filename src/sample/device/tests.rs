#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

//! The tensor path against the host path, which says what is right. All of it runs on the CPU.

mod codecs;
mod rows;
mod tables;

use super::exchange::Exchange;
use tch::{Device, Tensor};

fn exchange() -> Exchange {
    Exchange::new(Device::Cpu)
}

fn doubles(values: &[f64]) -> Tensor {
    Tensor::from_slice(values)
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    exchange().download(tensor).unwrap()
}

/// The files that a step is made of name nothing that copies between host and device.
#[test]
fn a_step_has_no_way_to_the_host() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sample/device");
    let copies = [
        "to_device",
        "to_host",
        "to_doubles",
        "from_slice",
        "double_value",
        "int64_value",
        "try_from(",
        "copy_data",
        "where_scalar",
        "float_tensor",
        "class_tensor",
        "Exchange::new",
    ];
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir()
            || ["exchange.rs", "tests.rs"]
                .iter()
                .any(|name| path.ends_with(name))
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("i32::try_from(d)", "");
        for copy in copies {
            assert!(!text.contains(copy), "{} names `{copy}`", path.display());
        }
        files += 1;
    }
    assert_eq!(files, 7);
}
