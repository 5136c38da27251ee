// SPDX-License-Identifier: MIT
// Node http: 8 units at once, up to TRIES tries each. Usage: HOST PORT COUNT TRIES keep|close
"use strict";
const fs = require("fs");
const http = require("http");
const net = require("net");

const [host, port, count, tries, kept] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: kept === "keep", maxSockets: 8 });
let next = 0;

function say(name) {
  try {
    fs.closeSync(fs.openSync(`/.try/${name}`));
  } catch (e) {
    // the witness has heard it
  }
}

// Asked for when there is no kept connection for a request.
agent.createConnection = (options, done) => {
  say(options.unit);
  return net.createConnection({ host, port }, done);
};

function attempt(name) {
  return new Promise((resolve, reject) => {
    const what = { host, port, path: `/u/${name}`, agent, timeout: 15000, unit: name };
    const request = http.get(what, (answer) => {
      answer.on("error", reject);
      answer.on("end", resolve);
      answer.resume();
    });
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error("timeout")));
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function worker() {
  while (next < Number(count)) {
    const name = next++;
    for (let n = 0; n < Number(tries); n++) {
      try {
        await attempt(name);
        break;
      } catch (e) {
        await pause(30);
      }
    }
    await pause(20);
  }
}

Promise.all(Array.from({ length: 8 }, worker)).then(() => agent.destroy());
