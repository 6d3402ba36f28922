# frozen_string_literal: true

require "timeout"
require_relative "connect"

# The cases of one library; ../README.md says what each asks.
class Cases
  ALL = %w[acquire contended extend release foreign expiry wait].freeze

  LEASE = 10.0
  SHORT_LEASE = 0.5
  FREE_WITHIN = 5.0
  TAKERS = 16
  TURN = 0.005
  CASE_LIMIT = 60

  Failed = Class.new(StandardError)

  def initialize(library, addresses)
    @library = library
    @addresses = addresses
    @probes = addresses.map { |address| connect(address) }
  end

  # Runs a case and says how it went.
  def run(name, key)
    Timeout.timeout(CASE_LIMIT) { send("case_#{name}", key) }
    "ok"
  rescue StandardError => e
    "FAIL #{e.message.tr("\n", " ")}"
  end

  private

  def must(holds, otherwise)
    raise Failed, otherwise unless holds
  end

  def locker(name, lease = LEASE)
    @library.new(@addresses, name, lease)
  end

  # Takes a free name without waiting.
  def take(name, lease = LEASE)
    locker(name, lease).tap { |it| must(it.try_lock, "not taken") }
  end

  # Sends a command to every server; of several masters one may be dead.
  def everywhere(*command)
    answers = @probes.filter_map do |probe|
      [probe.call(*command)]
    rescue Redis::CannotConnectError
      nil
    end
    must(answers.size * 2 > @probes.size, "no majority of the servers answers")
    answers.flatten(1)
  end

  # What the lock has left at the first address, in seconds.
  def left(name)
    @probes.first.pttl(name) / 1000.0
  end

  def case_acquire(name)
    take(name)
    must(left(name).positive? && left(name) <= LEASE, "the lease is #{left(name)} s")
    everywhere("LOCK.TOKEN", name).each do |token|
      must(token.is_a?(Integer) && token.positive?, "the token is #{token.inspect}")
    end
  end

  def case_contended(name)
    take(name)
    must(!locker(name).try_lock, "taken twice")
  end

  def case_extend(name)
    holder = take(name)
    everywhere("PEXPIRE", name, 1000)
    must(holder.extend_lease, "not extended")
    must(left(name) > LEASE / 2, "the lease is #{left(name)} s after extending")
  end

  def case_release(name)
    must(take(name).unlock != false, "not released")
    take(name)
  end

  def case_foreign(name)
    former = take(name)
    everywhere("DEL", name)
    take(name)
    must(former.unlock != true, "the former holder was told that it released the lock")
    must(left(name).positive?, "the former holder released its successor's lock")
  end

  def case_expiry(name)
    began = now
    former = take(name, SHORT_LEASE)
    other = locker(name)
    until other.try_lock
      must(now - began < FREE_WITHIN, "not free in time")
    end
    took = now - began
    must(took >= SHORT_LEASE * 0.99, "taken from its holder after #{took} of #{SHORT_LEASE} s")
    must(took < FREE_WITHIN, "free only after #{took} s")
    must(!former.extend_lease, "extended after it had ended")
  end

  # Threads take turns; what the lock protects counts who is in.
  def case_wait(name)
    guard = Mutex.new
    inside = turns = clashes = 0
    threads = Array.new(TAKERS) do
      Thread.new do
        Thread.current.report_on_exception = false
        holder = locker(name)
        holder.lock
        guard.synchronize { clashes += 1 if (inside += 1) > 1 }
        sleep TURN # so that the others find it held
        guard.synchronize { inside -= 1; turns += 1 }
        must(holder.unlock != false, "not released")
      end
    end
    threads.each(&:join)
    must(clashes.zero? && turns == TAKERS, "#{turns} turns, #{clashes} times two were in")
  ensure
    threads&.each(&:kill)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
