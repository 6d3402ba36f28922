//! Takes the lock "report" with redis-rs.

use redis::{ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

#[tokio::main]
async fn main() -> RedisResult<()> {
    let client = redis::Client::open("redis://127.0.0.1:6379/")?;
    let mut redis = client.get_multiplexed_async_connection().await?;

    let owner = format!("{:032x}", rand::random::<u128>());
    let lease = SetOptions::default()
        .conditional_set(ExistenceCheck::NX)
        .with_expiration(SetExpiry::PX(8000));
    let taken: bool = redis::cmd("SET")
        .arg("report")
        .arg(&owner)
        .arg(lease)
        .query_async(&mut redis)
        .await?;
    if !taken {
        panic!("held by another");
    }
    let token: i64 = redis::cmd("LOCK.TOKEN")
        .arg("report")
        .query_async(&mut redis)
        .await?;
    println!("locked {token}");

    let _: i64 = Script::new(RELEASE)
        .key("report")
        .arg(&owner)
        .invoke_async(&mut redis)
        .await?;
    Ok(())
}
