# SPDX-License-Identifier: MIT
# Net::HTTP: up to TRIES tries for each unit. Usage: HOST PORT COUNT TRIES
require 'net/http'

host, port, count, tries = ARGV[0], *ARGV[1, 3].map(&:to_i)

def say(path)
  File.open(path)
rescue SystemCallError
  nil
end

count.times do |name|
  say("/.unit/#{name}")
  tries.times do
    http = Net::HTTP.new(host, port)
    http.max_retries = 0
    http.open_timeout = http.read_timeout = 15
    http.get("/u/#{name}")
    break
  rescue SystemCallError, IOError, Timeout::Error
    sleep 0.03
  end
  sleep 0.005
end
