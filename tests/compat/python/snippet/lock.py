import redis

client = redis.Redis.from_url("redis://127.0.0.1:6379")

with client.lock("report", timeout=8) as lock:
    token = client.execute_command("LOCK.TOKEN", lock.name)
    print("locked", token)
