// Loaded before kinesis-mock, which would listen on every interface, and wait at its end for clients that keep their
// connections open. It listens on loopback alone, and ends when told to: it has nothing to save.
'use strict';
const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...given) {
  const host = typeof given[0] === 'string' ? given.shift() : '0.0.0.0';
  return listen.call(this, port, host === '0.0.0.0' ? '127.0.0.1' : host, ...given);
};
process.on('SIGTERM', () => process.kill(process.pid, 'SIGKILL'));
