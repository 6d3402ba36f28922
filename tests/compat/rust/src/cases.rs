//! What every library must pass.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::holder::{Failure, Holder, Library};
use crate::probe::Probe;

pub const ALL: [&str; 7] = [
    "acquire",
    "contended",
    "extend",
    "release",
    "foreign",
    "expiry",
    "wait",
];

const LEASE: Duration = Duration::from_secs(10);
const SHORT_LEASE: Duration = Duration::from_millis(500);
const FREE_WITHIN: Duration = Duration::from_secs(5);
const TAKERS: usize = 12;

type Outcome = Result<(), Failure>;

pub struct Cases {
    library: Library,
    addresses: Vec<String>,
    probe: Probe,
    holders: AtomicUsize,
}

impl Cases {
    pub fn open(library: Library, addresses: &[String]) -> Result<Self, redis::RedisError> {
        let probe = Probe::new(addresses)?;
        Ok(Cases {
            library,
            addresses: addresses.to_vec(),
            probe,
            holders: AtomicUsize::new(0),
        })
    }

    pub async fn run(&self, name: &str, key: &str) -> Outcome {
        match name {
            "acquire" => self.acquire(key).await,
            "contended" => self.contended(key).await,
            "extend" => self.extend(key).await,
            "release" => self.release(key).await,
            "foreign" => self.foreign(key).await,
            "expiry" => self.expiry(key).await,
            "wait" => self.wait(key).await,
            _ => Err(format!("there is no case {name}").into()),
        }
    }

    /// A free lock is taken, and the server has it with its lease and token.
    async fn acquire(&self, key: &str) -> Outcome {
        self.take(key, LEASE).await?;
        let left = self.probe.left(key).await?;
        check(
            left > 0 && left as u128 <= LEASE.as_millis(),
            format!("the lease is {left}"),
        )?;
        let token = self.probe.token(key).await?;
        check(token > 0, format!("the token is {token}"))
    }

    /// A held lock is refused.
    async fn contended(&self, key: &str) -> Outcome {
        self.take(key, LEASE).await?;
        check(!self.holder(key, LEASE).try_lock().await?, "taken twice")
    }

    /// A holder gets its whole lease again.
    async fn extend(&self, key: &str) -> Outcome {
        let mut holder = self.take(key, LEASE).await?;
        self.probe.everywhere(&["PEXPIRE", key, "1000"]).await?;
        check(holder.extend().await?, "not extended")?;
        let left = self.probe.left(key).await?;
        check(
            left as u128 >= LEASE.as_millis() / 2,
            format!("the lease is {left} after extending"),
        )
    }

    /// A released lock is free.
    async fn release(&self, key: &str) -> Outcome {
        let released = self.take(key, LEASE).await?.unlock().await?;
        check(released != Some(false), "not released")?;
        self.take(key, LEASE).await.map(drop)
    }

    /// Who doesn't hold the lock can't release it.
    async fn foreign(&self, key: &str) -> Outcome {
        let mut former = self.take(key, LEASE).await?;
        self.probe.everywhere(&["DEL", key]).await?;
        self.take(key, LEASE).await?;
        let released = former.unlock().await?;
        check(
            released != Some(true),
            "the former holder was told that it released the lock",
        )?;
        check(
            !self.holder(key, LEASE).try_lock().await?,
            "the former holder released its successor's lock",
        )
    }

    /// A lease that isn't renewed ends, and not before its time.
    async fn expiry(&self, key: &str) -> Outcome {
        let sent = Instant::now();
        let mut former = self.take(key, SHORT_LEASE).await?;
        let mut next = self.holder(key, LEASE);
        while !next.try_lock().await? {
            check(
                sent.elapsed() < FREE_WITHIN,
                format!("not free after {:?}", sent.elapsed()),
            )?;
        }
        let took = sent.elapsed();
        check(
            took >= SHORT_LEASE * 99 / 100,
            format!("taken from its holder after {took:?}"),
        )?;
        check(!former.extend().await?, "extended after it had ended")
    }

    /// Tasks take turns; the resource counts who is in.
    async fn wait(&self, key: &str) -> Outcome {
        let resource = Arc::new(Resource::default());
        let mut tasks = Vec::new();
        for _ in 0..TAKERS {
            let (mut holder, resource) = (self.holder(key, LEASE), resource.clone());
            tasks.push(tokio::spawn(async move {
                holder.lock().await?;
                resource.enter();
                tokio::task::yield_now().await;
                resource.leave();
                let released = holder.unlock().await?;
                check(released != Some(false), "not released")
            }));
        }
        for task in tasks {
            task.await??;
        }
        let (turns, clashes) = (resource.turns.load(SeqCst), resource.clashes.load(SeqCst));
        check(
            turns == TAKERS && clashes == 0,
            format!("{turns} turns, {clashes} times two were in"),
        )
    }

    fn holder(&self, key: &str, lease: Duration) -> Holder {
        self.library.holder(
            &self.addresses,
            key,
            self.holders.fetch_add(1, SeqCst),
            lease,
        )
    }

    async fn take(&self, key: &str, lease: Duration) -> Result<Holder, Failure> {
        let mut holder = self.holder(key, lease);
        check(holder.try_lock().await?, "not taken")?;
        Ok(holder)
    }
}

/// What the lock is for: it counts who is in.
#[derive(Default)]
struct Resource {
    inside: AtomicUsize,
    turns: AtomicUsize,
    clashes: AtomicUsize,
}

impl Resource {
    fn enter(&self) {
        if self.inside.fetch_add(1, SeqCst) > 0 {
            self.clashes.fetch_add(1, SeqCst);
        }
        self.turns.fetch_add(1, SeqCst);
    }

    fn leave(&self) {
        self.inside.fetch_sub(1, SeqCst);
    }
}

fn check(holds: bool, otherwise: impl Into<String>) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(otherwise.into().into())
    }
}
