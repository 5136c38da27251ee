// SPDX-License-Identifier: MIT
// Node's net module: a line there, a line back.
'use strict';
const net = require('net');
const [how, host, port, count] = process.argv.slice(2);
let said = '';

function fetch(done) {
    let line = '';
    let over = false;
    const server = host.startsWith('/') ? { path: host } : { host, port };
    const socket = net.connect(server, () => socket.write('hello from node\n'));
    const finish = (error) => {
        if (!over) {
            over = true;
            socket.destroy();
            done(error, line);
        }
    };
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
        line += text;
        if (line.endsWith('\n')) {
            finish(line === 'error\n' ? new Error('error') : null);
        }
    });
    socket.on('error', finish);
    socket.on('close', () => finish(new Error('no answer')));
}

function again(left) {
    fetch((error, line) => {
        if (error && how === 'get') {
            process.exitCode = 1;
        } else if (error) {
            if (error.message !== said) {
                said = error.message;
                process.stderr.write(`${said}\n`);
            }
            setImmediate(again, left);
        } else {
            process.stdout.write(line);
            if (left > 1) {
                again(left - 1);
            }
        }
    });
}
again(how === 'get' ? Number(count) : 1);
