# frozen_string_literal: true

# Takes the lock "report" with the gem redis.

require "redis"
require "securerandom"

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"

redis = Redis.new(host: "127.0.0.1", port: 6379)
owner = SecureRandom.uuid
abort "held by another" unless redis.set("report", owner, nx: true, px: 8000)
begin
  puts "locked #{redis.call("LOCK.TOKEN", "report")}"
ensure
  redis.eval(RELEASE, keys: ["report"], argv: [owner])
end
