// SPDX-License-Identifier: MIT
// Node's https module: TLS in memory, the event loop moves the bytes.
// Usage: tls_loop.js HOST PORT N: N requests on one kept connection, the first failure ends it
const https = require("https");
const [host, port, count] = process.argv.slice(2);
const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

function ask(left) {
  https.get({ host, port, agent }, (reply) => {
    reply.on("data", (part) => process.stdout.write(part));
    reply.on("end", () => {
      if (reply.statusCode !== 200) throw new Error(reply.statusMessage);
      if (left > 1) ask(left - 1);
      else agent.destroy();
    });
  });
}
ask(Number(count));
