import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ROUTES } from '../../wire/link/frames.ts'
import { ANONYMOUS } from '../caller.ts'
import { findRoute, parseRequest } from './route.ts'
import { routeTable } from './route-table.ts'
import type { Handlers } from './route-table.ts'

const unused = (): never => assert.fail('no handler is called')
const handlers: Handlers = {
  trust: unused,
  agentBundle: unused,
  enrol: unused,
  renew: unused,
  last: unused,
  follow: unused,
  lastHead: unused,
  document: unused,
  held: unused,
  blob: unused,
  set: unused,
  report: unused,
  checkIn: unused,
  paced: (handle) => handle,
}
const table = routeTable(handlers)

describe('the route table', () => {
  it('has every path of the wire under its own name, and no path twice', () => {
    const paths = Object.fromEntries(Object.entries(table).map(([name, { path }]) => [name, path]))
    assert.deepEqual(paths, { ...ROUTES })
    assert.equal(new Set(Object.values(paths)).size, Object.keys(ROUTES).length)
  })

  it('finds a route by method and exact path, and by prefix only where the path ends with a slash', () => {
    const found = (method: string, path: string) => findRoute(table, method, path)?.path
    assert.equal(found('GET', '/agent/v1/document'), ROUTES.document)
    assert.equal(found('GET', '/agent/v1/blob/sha256:00'), ROUTES.blob)
    assert.equal(found('GET', '/agent/v1/set/'), ROUTES.set)
    for (const [method, path] of [
      ['POST', '/agent/v1/document'],
      ['GET', '/agent/v1/document/'],
      ['GET', '/agent/v1/documents'],
      ['GET', '/agent/v1/blob'],
      ['HEAD', '/agent/v1/trust'],
      ['GET', '/'],
    ] as const) {
      assert.equal(found(method, path), undefined, `${method} ${path}`)
    }
  })

  it('sheds certificates last and lets decommissioned clusters read only their last document', () => {
    const rows = Object.entries(table)
    const names = (keep: (route: (typeof rows)[number][1]) => boolean) =>
      rows.flatMap(([name, route]) => (keep(route) ? [name] : []))
    assert.deepEqual(
      names((route) => route.caller === 'Anyone'),
      ['trust', 'agentBundle'],
    )
    assert.deepEqual(
      names((route) => route.caller === 'IdentityKey'),
      ['enrol', 'renew', 'last'],
    )
    assert.deepEqual(
      names((route) => route.caller === 'Cluster' && route.class === 'report'),
      ['report', 'checkIn'],
    )
    assert.deepEqual(
      names((route) => 'handleDecommissioned' in route),
      ['follow', 'document'],
    )
  })
})

describe('a request', () => {
  it('is taken apart into path, name below the route and parameters', () => {
    const { signal } = new AbortController()
    const request = { method: 'GET', path: '/agent/v1/set/sha256:ab?base=sha256:cd&from=3', headers: {} }
    const { path, name, parameters, body } = parseRequest(request, ANONYMOUS, signal)
    assert.deepEqual([path, name, body.byteLength], ['/agent/v1/set/sha256:ab', 'sha256:ab', 0])
    assert.deepEqual(
      [...parameters],
      [
        ['base', 'sha256:cd'],
        ['from', '3'],
      ],
    )
    assert.equal(parseRequest({ ...request, path: '/agent/v1/document' }, ANONYMOUS, signal).name, '')
  })
})
