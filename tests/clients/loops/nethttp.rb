# SPDX-License-Identifier: MIT
# Net::HTTP with its default settings.
require 'net/http'

how, host, port, count = ARGV
url = URI("http://#{host}:#{port}/")

if how == 'get'
  count.to_i.times { print Net::HTTP.get(url) }
  exit
end
begin
  print Net::HTTP.get(url)
rescue SystemCallError, IOError, SocketError, Timeout::Error
  retry
end
