// SPDX-License-Identifier: MIT
// Jobs in Node: jobs.js SECONDS RATE TRIES agent|none|post|lookup PORT=KIND...   (lookup: NAME=KIND...;
// post: head and body in writes of their own, to one path)
'use strict';
const http = require('http');
const dns = require('dns');

const [seconds, rate, tries, manner, ...words] = process.argv.slice(2);
const targets = words.map((word) => word.split('='));
const agent = manner === 'agent' ? new http.Agent({ keepAlive: true }) : new http.Agent();
const started = performance.now();

function fetch(port, path) {
  return new Promise((done) => {
    const post = manner === 'post';
    const about = { port, path: post ? '/events' : path, host: '127.0.0.1', agent, timeout: 2000 };
    if (post) Object.assign(about, { method: 'POST', headers: { 'Content-Length': path.length } });
    const request = http.request(about, (reply) => {
      let text = '';
      reply.on('data', (data) => { text += data; });
      reply.on('end', () => done(reply.statusCode !== 200 ? `HTTP${reply.statusCode}`
        : text === about.path ? 'ok' : 'WRONG'));
      reply.on('error', (error) => done(error.code));
    });
    if (post) {
      request.flushHeaders();
      setImmediate(() => request.end(path));
    } else {
      request.end();
    }
    request.on('timeout', () => request.destroy());
    request.on('error', (error) => done(error.code === 'ECONNRESET' ? 'EOF' : error.code));
  });
}

function look(name) {
  return new Promise((done) => dns.lookup(name, (error) => done(error ? error.code : 'ok')));
}

async function job(number, due) {
  const [target, kind] = targets[number % targets.length];
  let word;
  for (let i = 0; i < Number(tries); i++) {
    word = await (manner === 'lookup' ? look(target) : fetch(Number(target), `/${kind}${number}`));
    if (word === 'ok') break;
  }
  console.log(`${kind} ${(performance.now() - due).toFixed(2)} ${word}`);
}

for (let number = 0; number < seconds * rate; number++) {
  const due = started + number / rate * 1000;
  setTimeout(job, due - performance.now(), number, due);
}
