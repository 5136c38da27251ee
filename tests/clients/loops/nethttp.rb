# SPDX-License-Identifier: MIT
# Net::HTTP with its default settings.
require 'net/http'

how, host, port, count = ARGV
url = URI("http://#{host}:#{port}/")

if how == 'get'
  count.to_i.times { print Net::HTTP.get(url) }
  exit
end
timeout = Float(ENV.fetch('TIMEOUT', '60'))
limits = { open_timeout: timeout, read_timeout: timeout }
said = ''
begin
  reply = Net::HTTP.start(host, port, nil, nil, nil, nil, limits) { |http| http.get('/') }
  raise IOError, reply.message unless reply.is_a?(Net::HTTPOK)

  print reply.body
rescue SystemCallError, IOError, SocketError, Timeout::Error, Net::ProtocolError => e
  warn(said = e.message) if e.message != said
  retry
end
