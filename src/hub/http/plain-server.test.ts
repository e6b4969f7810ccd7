import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { connectTo, rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'
import { openSilent } from '../../testing/hub/connection-flood.ts'
import { listenOn } from './listen.ts'
import { createPlainServer, readTarget } from './plain-server.ts'
import type { PlainServerOptions, RequestTarget } from './plain-server.ts'

async function started(t: { after(fn: () => Promise<void>): void }, answer: PlainServerOptions['answer']) {
  const lines: string[] = []
  const error = (fields: object, message: string) =>
    void lines.push(`${message}: ${'err' in fields ? String(fields.err) : ''}`)
  const log = { ...silentLogger, error }
  const { port, close } = await listenOn(createPlainServer({ name: 'test', log, answer }), {
    host: '127.0.0.1',
    port: 0,
  })
  t.after(close)
  return { errors: () => lines, port, get: (target: string) => sendRaw(connectTo(port), rawGet(target, 'h')) }
}

test('a handler that throws or rejects is a 500 and a line in the log, and the next request is answered', async (t) => {
  const { get, errors } = await started(t, (_request, response, { path }): void | Promise<void> => {
    if (path === '/throws') throw new Error('sync')
    if (path === '/rejects') return Promise.reject(new Error('async'))
    if (path === '/late') {
      response.writeHead(200).write('half')
      throw new Error('late')
    }
    response.end('well')
    return undefined
  })
  for (const path of ['/throws', '/rejects']) {
    const answer = await get(path)
    assert.deepEqual(statusesIn(answer), [500])
    assert.match(answer, /\r\ninternal error\n/)
    assert.doesNotMatch(answer, /sync/, 'nothing of the error goes to the client')
  }
  assert.doesNotMatch(await get('/late'), /0\r\n\r\n$/, 'an answer that broke off does not look whole')
  assert.deepEqual(errors(), [
    'a request could not be answered: Error: sync',
    'a request could not be answered: Error: async',
    'a request could not be answered: Error: late',
  ])
  assert.deepEqual(statusesIn(await get('/')), [200])
})

test('errors of an answer after its end, and of a client that hangs up, end nothing', async (t) => {
  const hungUp = Promise.withResolvers<void>()
  const { get, port, errors } = await started(t, async (request, response, { path }) => {
    if (path === '/twice') {
      response.end('once')
      response.write('again')
      return
    }
    if (path === '/body') {
      request.once('close', () => hungUp.resolve())
      for await (const _chunk of request);
    }
    response.end('well')
  })
  assert.deepEqual(statusesIn(await get('/twice')), [200])
  const socket = connectTo(port)
  socket.write('POST /body HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf', () => socket.destroy())
  await hungUp.promise
  assert.deepEqual(statusesIn(await get('/')), [200])
  assert.deepEqual(errors(), [])
})

test('a target is taken as it stands; one that is no path and no address is refused', () => {
  const read = (url: string | undefined): RequestTarget | undefined =>
    readTarget({ headers: { host: 'h:1' }, ...(url === undefined ? {} : { url }) })
  const shown = (url: string) => {
    const target = read(url)
    return target && [target.path, String(target.query), target.host]
  }
  assert.deepEqual(shown('/'), ['/', '', 'h:1'])
  assert.deepEqual(shown('/a/../b%2f?x=1&y'), ['/a/../b%2f', 'x=1&y=', 'h:1'])
  assert.deepEqual(shown('/a//b?//['), ['/a//b', '%2F%2F%5B=', 'h:1'])
  assert.deepEqual(shown('http://Other.example:80/metrics?a=b'), ['/metrics', 'a=b', 'other.example'])
  for (const url of [undefined, '', '*', 'x', '//', '//a/b', '///', 'http://', 'http://[', 'ftp://h/', 'http:/a']) {
    assert.equal(read(url), undefined, url ?? 'none')
  }
})

test('one address that takes all connections does not shut out another', async (t) => {
  const { port } = await started(t, (_request, response) => void response.end('well'))
  const silent = await openSilent(port, 300)
  t.after(() => silent.forEach((socket) => socket.destroy()))
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  assert.deepEqual(statusesIn(await sendRaw(other, rawGet('/', 'h'))), [200])
})
