// SPDX-License-Identifier: MIT
// One healthy conversation and connections to nobody, on Node's event loop (README.md).
const net = require("net");
const [healthy, dead, requests, dialers] = process.argv.slice(2).map(Number);
const took = [];
const LEAST = 1500000000n; // ns
const started = process.hrtime.bigint();
let dials = 0;

function dial() {
  dials++;
  const socket = net.connect(dead, "127.0.0.1");
  socket.on("error", () => {});
  socket.on("close", () => setImmediate(dial));
}

const socket = net.connect(healthy, "127.0.0.1");
let began;
function ask() {
  began = process.hrtime.bigint();
  socket.write("ping\n");
}
socket.setNoDelay();
socket.on("connect", () => {
  for (let i = 0; i < dialers; i++) dial();
  ask();
});
let got = 0;
socket.on("data", (data) => {
  got += data.length;
  if (got < 5) return;
  got = 0;
  took.push((process.hrtime.bigint() - began) / 1000n);
  if (took.length < requests || process.hrtime.bigint() - started < LEAST) return ask();
  process.stdout.write(took.join("\n") + `\ndials ${dials}\n`, () => process.exit(0));
});
