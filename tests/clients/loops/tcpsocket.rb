# SPDX-License-Identifier: MIT
# TCPSocket: a line there, a line back.
require 'socket'

how, host, port, count = ARGV

def fetch(host, port)
  socket = TCPSocket.new(host, port)
  socket.write("hello from ruby\n")
  socket.gets or raise EOFError
ensure
  socket&.close
end

if how == 'get'
  count.to_i.times { print fetch(host, port) }
  exit
end
begin
  print fetch(host, port)
rescue SystemCallError, IOError, SocketError
  retry
end
