/**
 * Node's plain HTTP server. An import of `node:http` makes Node load everything that it can give, fetch and WebSockets
 * among it: 5 MB in each thread, of which a server uses nothing.
 */
export const { createServer } = process.getBuiltinModule('node:http')
