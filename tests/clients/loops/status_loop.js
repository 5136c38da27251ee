// SPDX-License-Identifier: MIT
// Asks at once again until the server says 200, on one kept connection.
// Usage: status_loop.js HOST PORT
const http = require("http");
const [host, port] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function ask() {
  let text = "";
  const request = http.get({ host, port, agent }, (reply) => {
    reply.on("data", (part) => (text += part));
    reply.on("end", () => {
      if (reply.statusCode !== 200) return setImmediate(ask);
      process.stdout.write(text);
      agent.destroy();
    });
  });
  request.on("error", (e) => {
    console.error(e.message);
    setImmediate(ask);
  });
}
ask();
