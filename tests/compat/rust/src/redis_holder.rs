//! A user of the driver alone: SET with NX and PX, and two scripts.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Client, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions};

use crate::holder::Failure;

const RELEASE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const EXTEND: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

/// How long a holder-to-be pauses before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

pub struct RedisHolder {
    address: String,
    name: String,
    value: String,
    lease: Duration,
}

impl RedisHolder {
    pub fn new(address: &str, name: &str, value: String, lease: Duration) -> Self {
        RedisHolder {
            address: address.into(),
            name: name.into(),
            value,
            lease,
        }
    }

    pub async fn try_lock(&self) -> RedisResult<bool> {
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(self.lease.as_millis() as u64));
        redis::cmd("SET")
            .arg(&self.name)
            .arg(&self.value)
            .arg(options)
            .query_async(&mut self.connect().await?)
            .await
    }

    pub async fn lock(&self) -> Result<(), Failure> {
        while !self.try_lock().await? {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    pub async fn extend(&self) -> RedisResult<bool> {
        let script = Script::new(EXTEND);
        let lease = self.lease.as_millis() as u64;
        script
            .key(&self.name)
            .arg(&self.value)
            .arg(lease)
            .invoke_async(&mut self.connect().await?)
            .await
    }

    pub async fn unlock(&self) -> RedisResult<bool> {
        let script = Script::new(RELEASE);
        script
            .key(&self.name)
            .arg(&self.value)
            .invoke_async(&mut self.connect().await?)
            .await
    }

    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        Client::open(self.address.as_str())?
            .get_multiplexed_async_connection()
            .await
    }
}
