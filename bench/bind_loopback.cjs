// node --require bind_loopback.cjs SERVER: whatever it listens on, it listens on 127.0.0.1 only.
const { Server } = require('node:net');

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  const callback = rest.find((argument) => typeof argument === 'function');
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, callback);
};
