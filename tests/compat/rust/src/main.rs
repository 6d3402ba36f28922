//! Drives a lock library against the servers named; ../../README.md says what it prints.

mod cases;
mod holder;
mod probe;
mod redis_holder;
mod rslock_holder;

use std::process::ExitCode;
use std::time::Duration;

use cases::Cases;
use holder::Library;

const CASE_LIMIT: Duration = Duration::from_secs(60);

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, addresses, prefix] = args.as_slice() else {
        return usage();
    };
    let Some(library) = Library::named(name) else {
        return usage();
    };
    println!("version {}", library.version());
    let addresses: Vec<String> = addresses
        .split(',')
        .map(|a| format!("redis://{a}/"))
        .collect();
    match Cases::open(library, &addresses) {
        Ok(cases) if run_all(&cases, prefix).await => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

async fn run_all(cases: &Cases, prefix: &str) -> bool {
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
    passed
}

fn usage() -> ExitCode {
    eprintln!("usage: rust rslock|redis-rs ADDRESS[,ADDRESS...] PREFIX");
    ExitCode::from(2)
}
