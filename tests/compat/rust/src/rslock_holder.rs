//! One holder-to-be of a lock, as a user of rslock is one.

use std::time::Duration;

use rslock::{Lock, LockManager};

/// How long rslock pauses at most before it tries again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

pub struct Holder {
    manager: LockManager,
    name: String,
    lease: Duration,
    lock: Option<Lock>,
}

impl Holder {
    pub fn new(addresses: &[String], name: &str, lease: Duration) -> Self {
        let manager = LockManager::new(addresses.to_vec());
        Holder { manager, name: name.into(), lease, lock: None }
    }

    /// Takes the lock if it is free, by one try, and says whether it did.
    pub async fn try_lock(&mut self) -> bool {
        self.manager.set_retry(1, RETRY_DELAY);
        self.lock = self.manager.lock(self.name.as_str(), self.lease).await.ok();
        self.lock.is_some()
    }

    /// Takes the lock as rslock waits for it: by tries until it has it.
    pub async fn lock(&mut self) -> Result<(), rslock::LockError> {
        self.manager.set_retry(3, RETRY_DELAY);
        self.lock = Some(self.manager.acquire_no_guard(self.name.as_str(), self.lease).await?);
        Ok(())
    }

    /// Gives the lock its whole lease again, and says whether it did.
    pub async fn extend(&mut self) -> bool {
        match &self.lock {
            Some(lock) => self.manager.extend(lock, self.lease).await.is_ok(),
            None => false,
        }
    }

    /// Releases the lock; rslock doesn't tell whether it was held.
    pub async fn unlock(&mut self) {
        if let Some(lock) = &self.lock {
            self.manager.unlock(lock).await;
        }
    }
}
