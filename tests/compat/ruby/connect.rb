# frozen_string_literal: true

require "redis"

# A connection to a server, host:port, made when it is first used. Of several masters
# one may be dead; that is found out once a command, not again and again.
def connect(address)
  host, port = address.split(":")
  Redis.new(host: host, port: port.to_i, connect_timeout: 2, timeout: 10, reconnect_attempts: 0)
end
