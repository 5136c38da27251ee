// SPDX-License-Identifier: MIT
// Node's http module, one request after the other.
'use strict';
const http = require('http');
const [how, host, port, count] = process.argv.slice(2);
const timeout = 1000 * Number(process.env.TIMEOUT || 60);
let said = '';

function fetch(done) {
    let over = false;
    const finish = (error, page) => {
        if (!over) {
            over = true;
            done(error, page);
        }
    };
    const server = host.startsWith('/') ? { socketPath: host } : { host, port };
    const request = http.get({ ...server, agent: false, timeout: timeout }, (reply) => {
        let page = '';
        reply.setEncoding('utf8');
        reply.on('data', (text) => { page += text; });
        reply.on('end', () => {
            finish(reply.statusCode === 200 ? null : new Error(reply.statusMessage), page);
        });
        reply.on('error', finish);
    });
    request.on('error', finish);
    request.on('timeout', () => request.destroy(new Error('timed out')));
}

function again(left) {
    fetch((error, page) => {
        if (error && how === 'get') {
            process.exitCode = 1;
        } else if (error) {
            if (error.message !== said) {
                said = error.message;
                process.stderr.write(`${said}\n`);
            }
            setImmediate(again, left);
        } else {
            process.stdout.write(page);
            if (left > 1) {
                again(left - 1);
            }
        }
    });
}
again(how === 'get' ? Number(count) : 1);
