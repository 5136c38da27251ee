// SPDX-License-Identifier: MIT
// Node's http module, one request after the other.
'use strict';
const http = require('http');
const [how, host, port, count] = process.argv.slice(2);

function fetch(done) {
    let over = false;
    const finish = (error, page) => {
        if (!over) {
            over = true;
            done(error, page);
        }
    };
    http.get({ host, port, agent: false }, (reply) => {
        let page = '';
        reply.setEncoding('utf8');
        reply.on('data', (text) => { page += text; });
        reply.on('end', () => finish(null, page));
        reply.on('error', finish);
    }).on('error', finish);
}

function again(left) {
    fetch((error, page) => {
        if (error && how === 'get') {
            process.exitCode = 1;
        } else if (error) {
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
