import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../client/create-client.ts'
import { utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { silentLogger } from '../core/log.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { createFakeApi } from '../testing/hub/fake-api.ts'
import { createReports } from './reports.ts'
import { createTrafficCounters } from './traffic.ts'

const SET: Digest = `sha256:${'a'.repeat(64)}`
const PATH = '/apis/flotilla.dev/v1alpha1/clusterreports/store-1'
const cluster = buildCluster('store-1', { status: { agentVersion: '0.1.0' } })

function fixture() {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const traffic = createTrafficCounters()
  const reports = createReports({
    client: createClient({ transport: api.transport, clock }),
    clock,
    log: silentLogger,
    traffic,
    root: () => SET,
    evidence: { report: async () => 1, isDurable: () => true, hasRoom: () => true },
    history: { note: () => {} },
  })
  /** Sends a report, and returns the requests to the API. */
  const send = async (revision: number, state = 'Ready', from = cluster): Promise<string[]> => {
    const before = api.requests.length
    const bundles = [{ bundle: 'default/shop', generation: revision, set: SET, state }]
    await reports.report(from, utf8(JSON.stringify({ epoch: 1, revision, agentVersion: '0.1.0', bundles })), {})
    return api.requests.slice(before).map((request) => request.replace(/ .*\//, ' ').replace(/\?.*/, ''))
  }
  const spec = () => api.get(PATH)?.['spec'] as { revision: number; traffic: object } | undefined
  return { api, reports, traffic, send, spec }
}

describe('a report', () => {
  it('is one request to the API after the first one of its cluster', async () => {
    const { send, spec, traffic } = fixture()
    assert.deepEqual(await send(1), ['GET store-1', 'POST clusterreports'])
    traffic.received(cluster.spec.id, 100)
    assert.deepEqual(await send(2), ['PUT store-1'])
    traffic.received(cluster.spec.id, 11)
    assert.deepEqual(await send(3), ['PUT store-1'])
    assert.deepEqual([spec()?.revision, spec()?.traffic], [3, { downBytes: 0, upBytes: 111 }])
  })

  it('writes nothing when only the time changed, and then reads what is stored', async () => {
    const { send } = fixture()
    await send(1)
    assert.deepEqual(await send(1), ['GET store-1'])
    assert.deepEqual(await send(1, 'Failed'), ['PUT store-1'])
  })

  it('keeps results of policy engines, and none that are larger than an agent sends', async () => {
    const { reports, spec } = fixture()
    const counts = { pass: 1, fail: 0, warn: 0, error: 0, skip: 0 }
    const send = async (revision: number, policies: number) => {
      const results = { policies: Array.from({ length: policies }, (_, index) => ({ engine: 'kyverno', policy: `p${index}`, category: 'x'.repeat(250), ...counts })) } // prettier-ignore
      await reports.report(cluster, utf8(JSON.stringify({ epoch: 1, revision, agentVersion: '0.1.0', bundles: [], results })), {}) // prettier-ignore
      return (spec() as { results?: { policies: readonly object[] } }).results?.policies.length
    }
    assert.equal(await send(1, 3), 3)
    assert.equal(await send(2, 500), undefined)
    await assert.rejects(send(3, 501), /results/)
  })

  it('keeps what another writer changed meanwhile', async () => {
    const { api, send } = fixture()
    await send(1)
    const stored = api.get(PATH)!
    api.put(PATH, { ...stored, metadata: { ...stored.metadata, labels: { noted: 'yes' } } })
    assert.deepEqual(await send(2), ['PUT store-1', 'GET store-1', 'PUT store-1'])
    assert.deepEqual(api.get(PATH)?.metadata.labels, { noted: 'yes' })
  })

  it('is written again when the stored report was deleted', async () => {
    const { api, send, spec } = fixture()
    await send(1)
    api.remove(PATH)
    assert.deepEqual(await send(2), ['PUT store-1', 'GET store-1', 'POST clusterreports'])
    assert.equal(spec()?.revision, 2)
  })

  it('that is older than one which another gateway stored is refused (I-11)', async () => {
    const { api, send, spec } = fixture()
    await send(1)
    const stored = api.get(PATH)!
    api.put(PATH, { ...stored, spec: { ...(stored['spec'] as object), revision: 9 } })
    await assert.rejects(send(2), /has already reported epoch 1 revision 9/)
    await assert.rejects(send(3), /has already reported epoch 1 revision 9/)
    assert.equal(spec()?.revision, 9)
  })

  it('of a cluster that took the name of a deleted cluster replaces the report of that cluster', async () => {
    const { send, spec, reports } = fixture()
    await send(5)
    const { spec: own, ...same } = cluster
    assert.deepEqual(await send(1, 'Ready', { ...same, spec: { ...own, id: 'c-new' } }), [
      'GET store-1',
      'DELETE store-1',
      'GET store-1',
      'POST clusterreports',
    ])
    assert.equal(spec()?.revision, 1)
    reports.forget('c-new')
  })
})
