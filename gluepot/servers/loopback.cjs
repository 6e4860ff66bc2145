// Loaded before a Node server that would listen on every interface of the machine: it listens on loopback alone.
'use strict';
const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (...given) {
  return listen.apply(this, given.map((one) => (one === '0.0.0.0' ? '127.0.0.1' : one)));
};
