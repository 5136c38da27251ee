// SPDX-License-Identifier: MIT
// An event loop that asks for something of its own ten times a second, and for one URL again and
// again, each time soon after it has failed. Usage: badurl.js PORT SECONDS PAUSE-MS
'use strict';
const http = require('http');

const [port, seconds, pause] = process.argv.slice(2).map(Number);
const end = Date.now() + seconds * 1e3;

function ask(path, then) {
  const began = performance.now();
  const over = (word) => {
    if (path[1] === 'h') console.log('h', performance.now() - began, word);
    then();
  };
  http.get({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
    answer.resume();
    answer.on('end', () => over(answer.statusCode === 200 ? 'ok' : 'HTTP'));
  }).on('error', (e) => over(e.code));
}

function again() {
  if (Date.now() < end) ask('/d', () => setTimeout(again, pause));
}

let number = 0;
const clock = setInterval(() => {
  if (Date.now() < end) ask(`/h${number++}`, () => {});
  else clearInterval(clock);
}, 100);
setTimeout(again, 500); // where nothing was ever answered nobody can know
