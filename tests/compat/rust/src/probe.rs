//! Looks at the servers beside the library.

use redis::{Client, RedisResult};

pub struct Probe {
    servers: Vec<Client>,
}

impl Probe {
    pub fn new(addresses: &[String]) -> RedisResult<Self> {
        let servers = addresses
            .iter()
            .map(|a| Client::open(a.as_str()))
            .collect::<RedisResult<_>>()?;
        Ok(Probe { servers })
    }

    /// What the key has left at the first address, in milliseconds as PTTL says it.
    pub async fn left(&self, key: &str) -> RedisResult<i64> {
        ask(&self.servers[0], &["PTTL", key]).await
    }

    pub async fn token(&self, key: &str) -> RedisResult<i64> {
        ask(&self.servers[0], &["LOCK.TOKEN", key]).await
    }

    /// Sends a command to every address, and fails only if none answers: a master may be dead.
    pub async fn everywhere(&self, command: &[&str]) -> RedisResult<()> {
        let mut result = Ok(());
        let mut answered = false;
        for server in &self.servers {
            match ask(server, command).await {
                Ok(_) => answered = true,
                Err(e) => result = Err(e),
            }
        }
        if answered {
            Ok(())
        } else {
            result
        }
    }
}

async fn ask(server: &Client, command: &[&str]) -> RedisResult<i64> {
    let mut connection = server.get_multiplexed_async_connection().await?;
    let mut cmd = redis::cmd(command[0]);
    cmd.arg(&command[1..]);
    cmd.query_async(&mut connection).await
}
