# frozen_string_literal: true

require "digest"
require "securerandom"
require_relative "connect"

# Polls as users of a plain driver do, and of libraries that leave the waiting to them.
module Polls
  def lock
    sleep rand(0.01..0.03) until try_lock
  end
end

# A script that is asked for by its hash, and sent where the server doesn't know it.
class Script
  def initialize(text)
    @text = text
    @sha = Digest::SHA1.hexdigest(text)
  end

  def run(redis, key, *args)
    redis.evalsha(@sha, keys: [key], argv: args)
  rescue Redis::CommandError => e
    raise unless e.message.start_with?("NOSCRIPT")

    redis.eval(@text, keys: [key], argv: args)
  end
end

DELETE_IF_EQUAL = Script.new(<<~LUA)
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])
LUA
EXPIRE_IF_EQUAL = Script.new(<<~LUA)
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
LUA

# The plain driver, as those use it who lock without a library.
class Plain
  include Polls

  VERSION = Redis::VERSION

  def initialize(addresses, name, lease)
    @redis = connect(addresses.first)
    @name = name
    @millis = (lease * 1000).to_i
    @value = SecureRandom.uuid
  end

  def try_lock
    @redis.set(@name, @value, nx: true, px: @millis)
  end

  def extend_lease
    EXPIRE_IF_EQUAL.run(@redis, @name, @value, @millis) == 1
  end

  def unlock
    DELETE_IF_EQUAL.run(@redis, @name, @value) == 1
  end
end
