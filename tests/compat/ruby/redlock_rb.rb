# frozen_string_literal: true

require "digest"
require "securerandom"
require_relative "connect"
require_relative "plain"

# redlock-rb, which no registry serves here: what it sends is spoken in our own words,
# over ruby-redis. Its script to take a lock also extends it, by the value.
class RedlockRb
  include Polls

  VERSION = "calls as of f176e5748a"

  SCRIPTS = {
    take: <<~LUA,
      local free = redis.call('EXISTS', KEYS[1]) == 0
      if (free and ARGV[3] == 'yes') or redis.call('GET', KEYS[1]) == ARGV[1] then
        return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      end
    LUA
    give: <<~LUA,
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      return redis.call('DEL', KEYS[1])
    LUA
    look: <<~LUA
      return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
    LUA
  }.freeze
  SHAS = SCRIPTS.transform_values { |text| Digest::SHA1.hexdigest(text) }.freeze

  def initialize(addresses, name, lease)
    @masters = addresses.map { |address| connect(address) }
    @name = name
    @millis = (lease * 1000).to_i
  end

  def try_lock
    @value = SecureRandom.uuid
    return true if agreed?("yes")

    unlock
    false
  end

  def extend_lease
    # By itself it takes a lock that is gone; this asks for one that is still there.
    agreed?("no") && @masters.count { |master| holds?(master) } >= quorum
  end

  # It looks at no answer, and tells none.
  def unlock
    @masters.each do |master|
      script(master, :give, @value)
    rescue Redis::BaseError
      next
    end
    nil
  end

  private

  def quorum
    @masters.size / 2 + 1
  end

  # Asks one master after the other. So many errors that the others are no quorum are raised.
  def agreed?(when_free)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    errors = []
    votes = @masters.count do |master|
      script(master, :take, @value, @millis, when_free)
    rescue Redis::BaseError => e
      errors << e
      nil
    end
    raise errors.first if errors.size >= quorum

    took = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) * 1000
    votes >= quorum && @millis - took - (@millis * 0.01 + 2) > 0
  end

  def holds?(master)
    value, left = script(master, :look)
    value == @value && left.positive?
  rescue Redis::BaseError
    false
  end

  # A server that doesn't know the script gets all three, and is asked once more.
  def script(master, which, *args)
    loaded = false
    begin
      master.evalsha(SHAS[which], keys: [@name], argv: args)
    rescue Redis::CommandError => e
      raise if loaded || !e.message.include?("NOSCRIPT")

      SCRIPTS.each_value { |text| master.script(:load, text) }
      loaded = true
      retry
    end
  end
end
