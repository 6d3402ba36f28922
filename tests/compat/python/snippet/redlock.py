import redis
from pottery import Redlock

client = redis.Redis.from_url("redis://127.0.0.1:6379")

with Redlock(key="report", masters={client}, auto_release_time=8) as lock:
    token = client.execute_command("LOCK.TOKEN", lock.key)
    print("locked", token)
