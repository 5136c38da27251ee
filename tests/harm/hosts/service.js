// SPDX-License-Identifier: MIT
// A service in Node: service.js PORT LIVE DEAD (relays, 3 tries) or service.js PORT storm DEAD
// (answers itself, and connects again to DEAD whenever the connection ended, without a pause).
// service.js PORT LIVE DEAD cluster: relays in two workers, to which their master passes connections.
'use strict';
const http = require('http');
const net = require('net');

const cluster = require('cluster');

const [port, live, dead, manner] = process.argv.slice(2);

function relay(path, reply, left) {
  const upstream = path.startsWith('/d') ? dead : live;
  let over = false;
  const fail = () => {
    if (over) return;
    over = true;
    if (left > 1) { relay(path, reply, left - 1); return; }
    reply.statusCode = 502;
    reply.end('none');
  };
  http.get({ port: upstream, path, host: '127.0.0.1' }, (answer) => {
    let text = '';
    answer.on('data', (data) => { text += data; });
    answer.on('end', () => { reply.setHeader('Content-Length', text.length); reply.end(text); });
    answer.on('error', fail);
  }).on('error', fail);
}

function serve() {
  http.createServer(answer).listen(Number(port), '127.0.0.1', 1000);
}

function answer(request, reply) {
  if (live !== 'storm') { relay(request.url, reply, 3); return; }
  reply.setHeader('Content-Length', request.url.length);
  reply.end(request.url);
}

if (manner === 'cluster' && cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
} else {
  serve();
}

function storm() {
  const socket = net.connect(Number(dead), '127.0.0.1');
  socket.on('error', () => {});
  socket.on('close', storm);
}
if (live === 'storm') storm();
