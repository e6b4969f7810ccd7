import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import type { ApiServer } from '../../apiserver/server/api-server.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import type { Loose } from '../../testing/api-contract/harness.ts'
import { composeApi } from '../compose/compose-api.ts'

const OWN = '/apis/flotilla.dev/v1alpha1'
const VIEW = '/apis/view.flotilla.dev/v1alpha1'
const ROWS = `${VIEW}/namespaces/shop/bundlestates`
const SET = `sha256:${'a'.repeat(64)}`
const CLUSTERS = 60
const ORIGIN = { author: 'Jo', subject: 'Raise replicas', from: 'https://git.example.com/shop.git' }
const nameOf = (n: number) => `store-${String(n).padStart(3, '0')}`

describe('the view API', () => {
  const memory = createMemoryStore()
  const clock = createVirtualClock()
  let reports = 0
  // Counts what a page costs.
  const store: Store = {
    ...memory,
    get: (key, at) => {
      if (key.startsWith(storePrefix(ClusterReport))) reports += 1
      return memory.get(key, at)
    },
  }
  let api: ApiServer

  async function send(method: string, path: string, body?: unknown, user?: string) {
    const caller =
      user === undefined ? { user: 'admin', groups: ['system:masters'] } : { user, groups: ['system:authenticated'] }
    const headers: Record<string, string> = { accept: 'application/json' }
    const request = { method, path, headers, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
    const response = await api.handle(request, caller, new AbortController().signal)
    return { status: response.status, body: JSON.parse(fromUtf8(await readBody(response.body, 1 << 24))) }
  }
  async function make(path: string, object: Loose): Promise<Loose> {
    const created = await send('POST', path, { apiVersion: 'flotilla.dev/v1alpha1', ...object })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    if (!object.status) return created.body
    const name = object.metadata.name as string
    const updated = await send('PUT', `${path}/${name}/status`, { ...created.body, status: object.status })
    assert.equal(updated.status, 200, JSON.stringify(updated.body))
    return updated.body
  }
  const heard = (status: string) => ({
    type: 'Available',
    status,
    reason: 'Seen',
    message: status === 'True' ? 'heard' : 'Not heard.',
    lastTransitionTime: '2026-11-16T00:00:00Z',
  })
  const rowsOf = async (query: string): Promise<Loose> => {
    const { status, body } = await send('GET', `${ROWS}${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  before(async () => {
    api = composeApi({ store, clock, ids: systemIds, log: silentLogger })
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
    const shop = `${OWN}/namespaces/shop`
    const placement = await make(`${shop}/placements`, {
      kind: 'Placement',
      metadata: { name: 'stores' },
      spec: { clusterSelector: {} },
    })
    const revision = { generation: 1, set: SET }
    for (const [bundle, release] of [
      ['web', 'web-g1'],
      ['zed', undefined],
    ] as const) {
      await make(`${shop}/bundles`, {
        kind: 'Bundle',
        metadata: { name: bundle },
        spec: { placement: 'stores', manifests: '' },
        ...(release ? { status: { release, revision } } : {}),
      })
    }
    await make(`${shop}/releases`, {
      kind: 'Release',
      metadata: { name: 'web-g1' },
      spec: { bundles: [{ name: 'web', ...revision, placement: 'stores', revision: 'main@sha1:1', origin: ORIGIN }] },
    })
    await make(`${shop}/rollouts`, {
      kind: 'Rollout',
      metadata: { name: 'web-g1' },
      spec: {
        release: 'web-g1',
        rings: [
          { name: 'first', count: 1, concurrency: 1 },
          { name: 'all', concurrency: 9 },
        ],
      },
      status: {
        rings: [{ name: 'first', upTo: nameOf(0) }, { name: 'all' }],
        counts: { total: CLUSTERS, ready: 40, progressing: 1, pending: 8, failed: 1, offline: 10 },
        admissions: [{ bundle: 'web', cluster: nameOf(41), ring: 'all', admittedAt: '2026-11-16T00:00:00Z' }],
        conditions: [{ ...heard('False'), type: 'Ready', reason: 'BudgetFull', message: 'All slots are taken.' }],
      },
    })
    const pages = 2
    for (let page = 0; page < pages; page += 1) {
      const from = (page * CLUSTERS) / pages
      await make(`${shop}/placementdecisions`, {
        kind: 'PlacementDecision',
        metadata: { name: `stores-${page}` },
        spec: {
          placement: 'stores',
          placementGeneration: placement.metadata.generation,
          page,
          pages,
          decisions: Array.from({ length: CLUSTERS / pages }, (_, n) => ({
            cluster: nameOf(from + n),
            reason: 'x',
            state: 'Selected',
          })),
        },
      })
    }
    for (let n = 0; n <= CLUSTERS; n += 1) {
      await make(`${OWN}/clusters`, {
        kind: 'Cluster',
        metadata: { name: nameOf(n) },
        spec: { id: `c-${n}`, accepted: true, identityKey: 'x'.repeat(60), sealingKey: 'y'.repeat(60) },
        status: { conditions: [heard(n >= 50 ? 'False' : 'True')] },
      })
      if (n > 40 && n < 50 && n !== 42) continue
      const failed = { state: 'Failed', applied: false, message: 'no image', firstFailing: 'Deployment/web' }
      const state = n === 42 ? failed : { state: 'Ready' }
      await make(`${OWN}/clusterreports`, {
        kind: 'ClusterReport',
        metadata: { name: nameOf(n) },
        spec: {
          clusterId: `c-${n}`,
          epoch: 1,
          revision: 1,
          receivedAt: '2026-11-16T00:00:00Z',
          bundles: n === 40 ? [] : [{ bundle: 'shop/web', ...revision, ...state }],
        },
      })
    }
  })
  after(async () => {
    await api.close()
    await memory.close()
  })

  it('one row per selected cluster, with exactly one state each, in order', async () => {
    const { kind, items } = await rowsOf('?fieldSelector=bundle=web')
    assert.equal(kind, 'BundleStateList')
    assert.equal(items.length, CLUSTERS)
    assert.deepEqual(
      items.map((row: Loose) => row.cluster),
      Array.from({ length: CLUSTERS }, (_, n) => nameOf(n)),
    )
    assert.deepEqual(
      [0, 40, 41, 42, 43, 55].map((n) => [items[n].state, items[n].waitsFor]),
      [
        ['Ready', undefined],
        ['Pending', 'budget'],
        ['Progressing', undefined],
        ['Failed', undefined],
        ['Pending', 'budget'],
        ['Offline', undefined],
      ],
    )
    assert.equal(items[42].message, 'no image')
    assert.equal(items[55].lastKnown, 'Ready')
    assert.equal(items[0].metadata.namespace, 'shop')
    const unrendered = await rowsOf('?fieldSelector=bundle=zed&limit=1')
    assert.deepEqual([unrendered.items[0].state, unrendered.items[0].waitsFor], ['Pending', 'render'])
  })

  it('a row has its ring, and the revision that was attempted and applied, with its commit', async () => {
    const { items } = await rowsOf('?fieldSelector=bundle=web')
    const known = { generation: 1, revision: 'main@sha1:1', ...ORIGIN }
    assert.deepEqual([items[0].ring, items[1].ring], ['first', 'all'])
    assert.deepEqual([items[0].attempted, items[0].applied], [known, known])
    // The first installation failed: nothing is applied completely.
    assert.deepEqual([items[42].attempted, items[42].applied], [known, undefined])
    assert.deepEqual([items[40].attempted, items[40].applied], [undefined, undefined])
    const { body } = await send('GET', `${ROWS}/web.${nameOf(0)}`)
    assert.deepEqual(body.applied, known)
  })

  it('pages go on where the last one ended, and a page costs what it shows', async () => {
    const seen: string[] = []
    let next = ''
    reports = 0
    const first = await rowsOf('?limit=7')
    assert.equal(first.items.length, 7)
    assert.ok(reports <= 25, `${reports} reports were read for 7 rows`)
    for (let page = first; ; page = await rowsOf(`?limit=7&continue=${encodeURIComponent(next)}`)) {
      seen.push(...page.items.map((row: Loose) => row.metadata.name))
      next = page.metadata.continue ?? ''
      if (next === '') break
    }
    assert.equal(seen.length, 2 * CLUSTERS)
    assert.equal(new Set(seen).size, seen.length)
    assert.equal(seen[CLUSTERS], `zed.${nameOf(0)}`)
  })

  it('is selected by bundle, cluster, state and labels', async () => {
    const offline = await rowsOf('?fieldSelector=bundle=web,state=Offline')
    assert.equal(offline.items.length, 10)
    const labelled = await rowsOf('?labelSelector=flotilla.dev/state=Failed')
    assert.deepEqual(
      labelled.items.map((row: Loose) => row.metadata.name),
      [`web.${nameOf(42)}`],
    )
    reports = 0
    const one = await rowsOf(`?fieldSelector=cluster=${nameOf(3)}`)
    assert.deepEqual(
      one.items.map((row: Loose) => row.bundle),
      ['web', 'zed'],
    )
    assert.equal(reports, 1, 'no other cluster is read')
    const outside = await rowsOf(`?fieldSelector=bundle=web,cluster=${nameOf(CLUSTERS)}`)
    assert.equal(outside.items[0].state, 'NotSelected')
    assert.match(
      outside.items[0].message,
      /^Not selected by Placement "stores" \(see "flotilla explain stores store-060/,
    )
    assert.equal((await send('GET', `${ROWS}?fieldSelector=message=x`)).status, 400)
  })

  it('one row by name; what is no pair is not found', async () => {
    const { body } = await send('GET', `${ROWS}/web.${nameOf(42)}`)
    assert.deepEqual([body.kind, body.state, body.firstFailing], ['BundleState', 'Failed', 'Deployment/web'])
    for (const name of ['web', 'web.unknown', `other.${nameOf(1)}`]) {
      const missing = await send('GET', `${ROWS}/${name}`)
      assert.equal(missing.status, 404)
      assert.equal(missing.body.message, `bundlestates.view.flotilla.dev "${name}" not found`)
    }
  })

  it('counts per state come ready-made and add up', async () => {
    reports = 0
    const { body } = await send('GET', `${VIEW}/namespaces/shop/bundlecounts/web`)
    assert.deepEqual(body.counts, {
      Ready: 40,
      Progressing: 1,
      Pending: 8,
      Offline: 10,
      Drifted: 0,
      Failed: 1,
      NotSelected: 0,
    })
    assert.equal(body.total, CLUSTERS)
    assert.equal(reports, 0)
    const all = await send('GET', `${VIEW}/bundlecounts`)
    assert.deepEqual(
      all.body.items.map((row: Loose) => [row.bundle, row.total]),
      [
        ['web', CLUSTERS],
        ['zed', 0],
      ],
    )
  })

  it('the state is of what runs, and what it waits for stands beside it', async () => {
    const older = {
      bundle: 'shop/web',
      generation: 0,
      set: `sha256:${'1'.repeat(64)}`,
      state: 'Failed',
      message: 'no image',
    }
    await make(`${OWN}/clusterreports`, {
      kind: 'ClusterReport',
      metadata: { name: nameOf(45) },
      spec: { clusterId: 'c-45', epoch: 1, revision: 1, receivedAt: '2026-11-16T00:00:00Z', bundles: [older] },
    })
    const { items } = await rowsOf('?fieldSelector=bundle=web,state=Failed')
    const row = items.find(({ cluster }: Loose) => cluster === nameOf(45))
    assert.deepEqual([row?.state, row?.waitsFor, row?.generation, row?.target], ['Failed', 'budget', 0, 1])
    assert.equal(row?.message, 'Generation 0 is Failed: no image. All slots are taken.')
    const table = await send('GET', `${ROWS}?fieldSelector=cluster=${nameOf(45)},bundle=web`)
    assert.equal(table.body.items.length, 1)
    await send('DELETE', `${OWN}/clusterreports/${nameOf(45)}`)
  })

  it('a bundle that its Project refuses is frozen, and says why', async () => {
    const message = 'Namespace shop has no Project.'
    const path = `${OWN}/namespaces/shop/bundles/zed/status`
    const { body } = await send('GET', path.replace('/status', ''))
    const conditions = [{ ...heard('False'), type: 'Ready', reason: 'NoProject', message }]
    const written = await send('PUT', path, { ...body, status: { ...body.status, conditions } })
    assert.equal(written.status, 200, JSON.stringify(written.body))
    const { items } = await rowsOf(`?fieldSelector=bundle=zed,cluster=${nameOf(1)}`)
    assert.deepEqual(
      items.map(({ state, waitsFor, badges, message: said }: Loose) => [state, waitsFor, badges, said]),
      [['Pending', 'freeze', ['Frozen'], message]],
    )
    await send('PUT', path, { ...written.body, status: { conditions: [] } })
  })

  it('a cluster that was turned away has a badge and no state', async () => {
    const path = `${OWN}/clusters/${nameOf(CLUSTERS)}`
    const { body: cluster } = await send('GET', path)
    const refused = { verdict: 'Revoked', at: '2026-11-16T00:00:00Z', reason: 'stolen' }
    const { status } = await send('PUT', path, { ...cluster, spec: { ...cluster.spec, refused } })
    assert.equal(status, 200)
    const { items } = await rowsOf(`?fieldSelector=bundle=web,cluster=${nameOf(CLUSTERS)}`)
    assert.deepEqual([items[0].state, items[0].badges], [undefined, ['Revoked']])
    assert.match(items[0].message, /^Revoked at 2026-11-16T00:00:00Z: stolen\./)
    assert.equal(items[0].metadata.labels['flotilla.dev/state'], undefined)
    const { body: after } = await send('GET', path)
    await send('PUT', path, { ...after, spec: cluster.spec })
  })

  it('can only be read, and only by who may read the namespace', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings'
    const refused = await send('GET', ROWS, undefined, 'ann')
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /bundlestates\.view\.flotilla\.dev is forbidden: User "ann" cannot list/)
    await send('POST', roles, {
      metadata: { name: 'ann' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: 'ann' }],
    })
    // The role is known to the next request at the latest a turn later.
    for (let tries = 0; (await send('GET', ROWS, undefined, 'ann')).status === 403 && tries < 100; tries += 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await send('GET', `${ROWS}?limit=1`, undefined, 'ann')).status, 200)
    assert.equal((await send('GET', `${VIEW}/bundlestates`, undefined, 'ann')).status, 403)
    assert.equal((await send('GET', `${VIEW}/namespaces/other/bundlestates`, undefined, 'ann')).status, 403)
    for (const method of ['POST', 'DELETE']) assert.equal((await send(method, ROWS, {})).status, 405)
    assert.equal((await send('DELETE', `${ROWS}/web.${nameOf(1)}`)).status, 405)
  })

  it('is found by discovery, with its verbs', async () => {
    const { body } = await send('GET', VIEW)
    assert.deepEqual(
      body.resources.map((resource: Loose) => [resource.name, resource.verbs]),
      [
        ['bundlestates', ['get', 'list', 'watch']],
        ['bundlecounts', ['get', 'list', 'watch']],
      ],
    )
  })

  /** Watches from a revision on, while things happen, and tells the events of the first `count`. */
  async function watched(query: string, count: number, happen: () => Promise<void>): Promise<Loose[]> {
    const stop = new AbortController()
    const path = `${ROWS}?watch=true&${query}`
    const request = { method: 'GET', path, headers: { accept: 'application/json' } }
    const response = await api.handle(request, { user: 'admin', groups: ['system:masters'] }, stop.signal)
    assert.equal(response.status, 200)
    const events: Loose[] = []
    const reading = (async () => {
      for await (const bytes of response.body) {
        events.push(
          ...fromUtf8(bytes)
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        )
      }
    })()
    await clock.advance(200)
    await happen()
    await clock.runUntil(() => events.length >= count, { withinMs: 30_000, what: `${count} events` })
    await clock.advance(1_000)
    stop.abort()
    await clock.advance(0)
    await reading
    assert.equal(events.length, count, JSON.stringify(events))
    return events
  }
  const told = ({ type, object }: Loose) => `${type} ${object.metadata.name} ${object.state}`
  const revisionNow = async (): Promise<string> => (await rowsOf('?limit=1')).metadata.resourceVersion
  async function report(n: number, spec: Loose): Promise<void> {
    const path = `${OWN}/clusterreports/${nameOf(n)}`
    const { body } = await send('GET', path)
    const row = { bundle: 'shop/web', generation: 1, set: SET, ...spec }
    const { status } = await send('PUT', path, { ...body, spec: { ...body.spec, bundles: [row] } })
    assert.equal(status, 200)
  }

  it('a watch tells what changed since the list, and nothing else', async () => {
    const events = await watched(`resourceVersion=${await revisionNow()}`, 2, async () => {
      await report(1, { state: 'Failed', message: 'no disk', firstFailing: 'Deployment/web' })
      // Says nothing new.
      await report(2, { state: 'Ready' })
      await report(42, { state: 'Ready' })
    })
    assert.deepEqual(events.map(told), [`MODIFIED web.${nameOf(1)} Failed`, `MODIFIED web.${nameOf(42)} Ready`])
  })

  it('who comes back with an old version hears what happened meanwhile, also in the middle of a batch', async () => {
    const before = await revisionNow()
    await report(1, { state: 'Ready' })
    await report(42, { state: 'Drifted' })
    const wanted = [`MODIFIED web.${nameOf(1)} Ready`, `MODIFIED web.${nameOf(42)} Drifted`]
    const events = await watched(`resourceVersion=${before}`, 2, async () => {})
    assert.deepEqual(events.map(told), wanted)
    const [first] = events
    const again = await watched(`resourceVersion=${first.object.metadata.resourceVersion}`, 2, async () => {})
    assert.deepEqual(again.map(told), wanted)
  })

  it('a selected watch has rows coming and going as they match, and one row can be watched by name', async () => {
    const failed = `fieldSelector=${encodeURIComponent('bundle=web,state=Failed')}`
    const name = `fieldSelector=metadata.name=web.${nameOf(3)}`
    const from = `resourceVersion=${await revisionNow()}`
    const happen = async () => {
      await report(3, { state: 'Failed', message: 'x' })
      await clock.advance(500)
      await report(3, { state: 'Ready' })
    }
    const events = await watched(`${from}&${failed}`, 2, happen)
    assert.deepEqual(events.map(told), [`ADDED web.${nameOf(3)} Failed`, `DELETED web.${nameOf(3)} Failed`])
    const named = await watched(`resourceVersion=${await revisionNow()}&${name}`, 2, happen)
    assert.deepEqual(named.map(told), [`MODIFIED web.${nameOf(3)} Failed`, `MODIFIED web.${nameOf(3)} Ready`])
  })

  it('begins with what is there, says where that ends, and tells when a bundle goes', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const only = `fieldSelector=${encodeURIComponent(`bundle=zed,cluster=${nameOf(1)}`)}`
    const events = await watched(`${query}&${only}`, 3, async () => {
      assert.equal((await send('DELETE', `${OWN}/namespaces/shop/bundles/zed`)).status, 200)
    })
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name, object.metadata.annotations]),
      [
        ['ADDED', `zed.${nameOf(1)}`, undefined],
        ['BOOKMARK', undefined, { 'k8s.io/initial-events-end': 'true' }],
        ['DELETED', `zed.${nameOf(1)}`, undefined],
      ],
    )
  })
})
