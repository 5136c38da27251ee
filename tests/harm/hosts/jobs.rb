# SPDX-License-Identifier: MIT
# Jobs in Ruby, 6 threads: jobs.rb SECONDS RATE TRIES PORT=KIND...
require 'net/http'

seconds, rate, tries = ARGV[0].to_f, ARGV[1].to_f, ARGV[2].to_i
targets = ARGV.drop(3).map { |word| word.split('=') }
jobs = Queue.new
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) - started }
workers = 6.times.map do
  Thread.new do
    while (job = jobs.pop) != :end
      number, due = job
      port, kind = targets[number % targets.size]
      word = nil
      tries.times do
        begin
          reply = Net::HTTP.start('127.0.0.1', port.to_i, open_timeout: 2, read_timeout: 2, max_retries: 0) do |http|
            http.get("/#{kind}#{number}")
          end
          word = reply.code != '200' ? "HTTP#{reply.code}" : reply.body == "/#{kind}#{number}" ? 'ok' : 'WRONG'
        rescue SystemCallError => e
          word = e.class.name.split('::').last
        rescue EOFError
          word = 'EOF'
        rescue StandardError => e
          word = e.class.name.split('::').last
        end
        break if word == 'ok'
      end
      $stdout.write(format("%s %.2f %s\n", kind, (clock.call - due) * 1e3, word))
    end
  end
end
(seconds * rate).to_i.times do |number|
  due = number / rate
  sleep([due - clock.call, 0].max)
  jobs << [number, due]
end
6.times { jobs << :end }
workers.each(&:join)
