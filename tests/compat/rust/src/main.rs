//! Drives rslock against the servers named; ../../README.md says what it prints.

mod cases;
mod holder;
mod probe;

use std::process::ExitCode;
use std::time::Duration;

use cases::Cases;

const CASE_LIMIT: Duration = Duration::from_secs(60);

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [library, addresses, prefix] = args.as_slice() else {
        return usage();
    };
    if library != "rslock" {
        return usage();
    }
    println!("version {}", version());
    let addresses: Vec<String> = addresses.split(',').map(|a| format!("redis://{a}/")).collect();
    let cases = match Cases::open(&addresses) {
        Ok(cases) => cases,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let mut passed = true;
    for name in cases::ALL {
        let key = format!("{prefix}:{name}");
        let result = tokio::time::timeout(CASE_LIMIT, cases.run(name, &key))
            .await
            .unwrap_or_else(|_| Err("not ended in time".into()));
        match result {
            Ok(()) => println!("{name} ok"),
            Err(e) => {
                println!("{name} FAIL {e}");
                passed = false;
            }
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("usage: rust rslock ADDRESS[,ADDRESS...] PREFIX");
    ExitCode::from(2)
}

/// The versions that Cargo.lock names, which are those that were built in.
fn version() -> String {
    let locked = include_str!("../Cargo.lock");
    format!("{} on redis-rs {}", locked_version(locked, "rslock"), locked_version(locked, "redis"))
}

fn locked_version<'a>(locked: &'a str, package: &str) -> &'a str {
    locked
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}
