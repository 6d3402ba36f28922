//! A user of rslock.

use std::time::Duration;

use rslock::{Lock, LockManager};

use crate::holder::Failure;

/// How long rslock pauses at most before it tries again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

pub struct RslockHolder {
    manager: LockManager,
    name: String,
    lease: Duration,
    lock: Option<Lock>,
}

impl RslockHolder {
    pub fn new(addresses: &[String], name: &str, lease: Duration) -> Self {
        let manager = LockManager::new(addresses.to_vec());
        RslockHolder {
            manager,
            name: name.into(),
            lease,
            lock: None,
        }
    }

    /// Makes one try.
    pub async fn try_lock(&mut self) -> bool {
        self.manager.set_retry(1, RETRY_DELAY);
        self.lock = self.manager.lock(self.name.as_str(), self.lease).await.ok();
        self.lock.is_some()
    }

    /// Waits as rslock waits: by tries until it has the lock.
    pub async fn lock(&mut self) -> Result<(), Failure> {
        self.manager.set_retry(3, RETRY_DELAY);
        self.lock = Some(
            self.manager
                .acquire_no_guard(self.name.as_str(), self.lease)
                .await?,
        );
        Ok(())
    }

    pub async fn extend(&mut self) -> bool {
        match &self.lock {
            Some(lock) => self.manager.extend(lock, self.lease).await.is_ok(),
            None => false,
        }
    }

    pub async fn unlock(&mut self) {
        if let Some(lock) = &self.lock {
            self.manager.unlock(lock).await;
        }
    }
}
