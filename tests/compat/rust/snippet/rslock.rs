//! Takes the lock "report" with rslock.

use std::time::Duration;

use rslock::LockManager;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = "redis://127.0.0.1:6379/";
    let locks = LockManager::new(vec![url]);
    let lock = locks
        .acquire_no_guard("report", Duration::from_secs(8))
        .await?;

    let mut redis = redis::Client::open(url)?
        .get_multiplexed_async_connection()
        .await?;
    let token: i64 = redis::cmd("LOCK.TOKEN")
        .arg("report")
        .query_async(&mut redis)
        .await?;
    println!("locked {token}");

    locks.unlock(&lock).await;
    Ok(())
}
