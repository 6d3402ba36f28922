# frozen_string_literal: true

# Drives the lock libraries of Ruby, as their users would, against servers that are
# named on the command line. ../README.md says what it prints and what each case asks.

require_relative "cases"
require_relative "plain"
require_relative "redlock_rb"

LIBRARIES = { "ruby-redis" => Plain, "redlock-rb" => RedlockRb }.freeze

def main(args)
  name, addresses, prefix = args
  library = LIBRARIES[name]
  abort "usage: main.rb LIBRARY ADDRESS[,ADDRESS...] PREFIX" unless args.size == 3 && library

  $stdout.sync = true
  puts "version #{library::VERSION}"
  cases = Cases.new(library, addresses.split(","))
  results = Cases::ALL.map do |name|
    cases.run(name, "#{prefix}:#{name}").tap { |result| puts "#{name} #{result}" }
  end
  exit results.none? { |result| result.start_with?("FAIL") }
end

main(ARGV)
