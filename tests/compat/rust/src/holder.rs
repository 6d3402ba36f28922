//! One holder-to-be of a lock.

use std::error::Error;
use std::time::Duration;

use crate::redis_holder::RedisHolder;
use crate::rslock_holder::RslockHolder;

pub type Failure = Box<dyn Error + Send + Sync>;

pub enum Holder {
    Rslock(RslockHolder),
    Redis(RedisHolder),
}

impl Holder {
    /// Takes the lock if it is free, without waiting, and says whether it did.
    pub async fn try_lock(&mut self) -> Result<bool, Failure> {
        match self {
            Holder::Rslock(holder) => Ok(holder.try_lock().await),
            Holder::Redis(holder) => Ok(holder.try_lock().await?),
        }
    }

    /// Takes the lock, waiting as the library waits.
    pub async fn lock(&mut self) -> Result<(), Failure> {
        match self {
            Holder::Rslock(holder) => holder.lock().await,
            Holder::Redis(holder) => holder.lock().await,
        }
    }

    /// Gives the lock its whole lease again, and says whether it did.
    pub async fn extend(&mut self) -> Result<bool, Failure> {
        match self {
            Holder::Rslock(holder) => Ok(holder.extend().await),
            Holder::Redis(holder) => Ok(holder.extend().await?),
        }
    }

    /// Releases the lock, and says whether it was held, where the library tells.
    pub async fn unlock(&mut self) -> Result<Option<bool>, Failure> {
        match self {
            Holder::Rslock(holder) => {
                holder.unlock().await;
                Ok(None)
            }
            Holder::Redis(holder) => Ok(Some(holder.unlock().await?)),
        }
    }
}

/// A lock library by its name.
#[derive(Clone, Copy)]
pub enum Library {
    Rslock,
    Redis,
}

impl Library {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "rslock" => Some(Library::Rslock),
            "redis-rs" => Some(Library::Redis),
            _ => None,
        }
    }

    /// The versions that Cargo.lock names, which are those that were built in.
    pub fn version(self) -> String {
        match self {
            Library::Rslock => format!(
                "{} on redis-rs {}",
                locked_version("rslock"),
                locked_version("redis")
            ),
            Library::Redis => locked_version("redis").into(),
        }
    }

    /// A new holder-to-be, unlike every other. `number` is one that no other has.
    pub fn holder(
        self,
        addresses: &[String],
        name: &str,
        number: usize,
        lease: Duration,
    ) -> Holder {
        match self {
            Library::Rslock => Holder::Rslock(RslockHolder::new(addresses, name, lease)),
            Library::Redis => {
                let value = format!("{}:{number}", std::process::id());
                Holder::Redis(RedisHolder::new(&addresses[0], name, value, lease))
            }
        }
    }
}

fn locked_version(package: &str) -> &'static str {
    include_str!("../Cargo.lock")
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}
