# SPDX-License-Identifier: MIT
# Net::HTTP over TLS, with a connection that it keeps.
# Usage: tls_loop.rb until|get HOST PORT [N], as tls_loop.py
require 'net/http'

what, host, port, count = ARGV
left = what == 'get' ? count.to_i : 1
http = Net::HTTP.new(host, port, nil)
http.use_ssl = true
http.verify_mode = OpenSSL::SSL::VERIFY_NONE
while left.positive?
  begin
    http.start unless http.started?
    reply = http.get('/')
    if reply.is_a?(Net::HTTPOK)
      print reply.body
      left -= 1
    elsif what == 'get'
      abort reply.message
    end
  rescue SystemCallError, IOError, OpenSSL::SSL::SSLError, Timeout::Error => e
    raise if what == 'get'

    warn e.message
    http.finish if http.started?
  end
end
