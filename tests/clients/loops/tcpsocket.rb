# SPDX-License-Identifier: MIT
# TCPSocket: a line there, a line back.
require 'socket'

how, host, port, count = ARGV

def fetch(host, port)
  socket = host.start_with?('/') ? UNIXSocket.new(host) : TCPSocket.new(host, port)
  socket.write("hello from ruby\n")
  line = socket.gets
  raise EOFError, 'no answer' if line.nil? || line == "error\n" || !line.end_with?("\n")

  line
ensure
  socket&.close
end

if how == 'get'
  count.to_i.times { print fetch(host, port) }
  exit
end
said = ''
begin
  print fetch(host, port)
rescue SystemCallError, IOError, SocketError => e
  warn(said = e.message) if e.message != said
  retry
end
