/** What a projected kind promises on each home: one list and one watch, with pages, selectors, Tables and rights. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fromUtf8, utf8 } from '../core/bytes.ts'
import { readBody } from '../core/http.ts'
import type { Handler } from '../core/http.ts'
import { scopesOfDottedName } from '../dialects/projection.ts'
import type { Projection } from '../dialects/projection.ts'
import { kindOf } from '../kinds/define-kind.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import { rawObject } from '../kinds/schema/schema-builders.ts'
import { toStructural } from '../kinds/schema/structural.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import type { VirtualClock } from '../sim/kernel/virtual-clock.ts'
import type { Store } from '../store/store.ts'
import type { Loose } from './api-contract/harness.ts'

/** A kind of another system with one object per bundle and cluster, in a namespace with the name of the cluster. */
export const WORKS: Projection = {
  kind: kindOf({
    group: 'example.dev',
    version: 'v1',
    kind: 'Work',
    plural: 'works',
    scope: 'Namespaced',
    description: 'Work of a test.',
    fields: { spec: toStructural(rawObject({})), status: toStructural(rawObject({})) },
    columns: [{ name: 'State', type: 'string', jsonPath: '.status.state' }],
  }),
  isStoredToo: true,
  includes: ({ metadata }) => metadata.labels?.['example.dev/works'] === 'true',
  objectOf: ({ metadata, bundle, cluster, state }) =>
    state === undefined || state === 'NotSelected'
      ? undefined
      : {
          apiVersion: 'example.dev/v1',
          kind: 'Work',
          metadata: { name: `${metadata.namespace}.${bundle}`, namespace: cluster, labels: { bundle } },
          spec: { bundle },
          status: { state },
        },
  within: (namespace) => ({ cluster: namespace }),
  named: (cluster, name) =>
    scopesOfDottedName('', name).map(({ bundle, cluster: rest }) => ({ cluster, namespace: bundle!, bundle: rest! })),
  makerOf: (bundle) => bundle,
}

const OWN = '/apis/flotilla.dev/v1alpha1'
const SET = `sha256:${'a'.repeat(64)}`
const STATES = ['Ready', 'Failed', 'Progressing', 'Drifted']

/** A home under test. */
export interface ProjectionHome {
  readonly clock: VirtualClock
  /** Answers for Flotilla's kinds, namespaces and roles. */
  readonly api: Handler
  /** Answers for works, under this path. */
  readonly rows: Handler
  readonly path: string
  /** Whether works can be stored, too. */
  readonly storesWorks: boolean
  /** The store below, where there is one on this side. */
  readonly store?: Store
  /** How many objects were read from the store. */
  reads(): number
  close(): Promise<void>
}

/** The bundles, clusters and works of a home, and requests about them. */
export class ProjectionWorld {
  readonly home: ProjectionHome

  constructor(home: ProjectionHome) {
    this.home = home
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    options: Loose = {},
  ): Promise<{ status: number; body: Loose }> {
    const { user, accept = 'application/json' } = options
    const caller =
      user === undefined ? { user: 'admin', groups: ['system:masters'] } : { user, groups: ['system:authenticated'] }
    const headers: Record<string, string> = { accept, ...options.headers }
    const request = { method, path, headers, ...(body === undefined ? {} : { body: utf8(JSON.stringify(body)) }) }
    const handle = path.startsWith(this.home.path) ? this.home.rows : this.home.api
    const answering = handle(request, caller, new AbortController().signal)
    await this.home.clock.settle()
    const response = await answering
    const text = fromUtf8(await readBody(response.body, 1 << 26))
    return { status: response.status, body: JSON.parse(text) }
  }

  async make(path: string, object: Loose): Promise<void> {
    const created = await this.send('POST', path, { apiVersion: 'flotilla.dev/v1alpha1', ...object })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    if (!object.status) return
    const updated = await this.send('PUT', `${path}/${object.metadata.name}/status`, {
      ...created.body,
      status: object.status,
    })
    assert.equal(updated.status, 200, JSON.stringify(updated.body))
  }

  /** Creates namespaces for the clusters, and the clusters. */
  async begin(clusters: readonly string[]): Promise<void> {
    for (const name of ['shop', ...clusters]) await this.send('POST', '/api/v1/namespaces', { metadata: { name } })
    for (const name of clusters) {
      await this.make(`${OWN}/clusters`, {
        kind: 'Cluster',
        metadata: { name },
        spec: { id: `c-${name}`, accepted: true, identityKey: 'x'.repeat(60), sealingKey: 'y'.repeat(60) },
        status: {
          conditions: [
            {
              type: 'Available',
              status: 'True',
              reason: 'Seen',
              message: 'heard',
              lastTransitionTime: '2026-11-16T00:00:00Z',
            },
          ],
        },
      })
    }
    await this.make(`${OWN}/namespaces/shop/placements`, {
      kind: 'Placement',
      metadata: { name: 'all' },
      spec: { clusterSelector: {} },
    })
    await this.make(`${OWN}/namespaces/shop/placementdecisions`, {
      kind: 'PlacementDecision',
      metadata: { name: 'all-0' },
      spec: {
        placement: 'all',
        placementGeneration: 1,
        page: 0,
        pages: 1,
        decisions: clusters.map((cluster) => ({ cluster, reason: 'x', state: 'Selected' })),
      },
    })
  }

  bundle(name: string): Promise<void> {
    return this.make(`${OWN}/namespaces/shop/bundles`, {
      kind: 'Bundle',
      metadata: { name, labels: { 'example.dev/works': 'true' } },
      spec: { placement: 'all', manifests: '' },
      status: { revision: { generation: 1, set: SET } },
    })
  }

  async report(cluster: string, states: Readonly<Record<string, string>>): Promise<void> {
    const bundles = Object.entries(states).map(([bundle, state]) => ({
      bundle: `shop/${bundle}`,
      generation: 1,
      set: SET,
      state,
    }))
    const spec = { clusterId: `c-${cluster}`, epoch: 1, revision: 1, receivedAt: '2026-11-16T00:00:00Z', bundles }
    const path = `${OWN}/clusterreports`
    const object = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'ClusterReport', metadata: { name: cluster }, spec }
    const known = await this.send('GET', `${path}/${cluster}`)
    if (known.status === 404) assert.equal((await this.send('POST', path, object)).status, 201)
    else assert.equal((await this.send('PUT', `${path}/${cluster}`, { ...known.body, spec })).status, 200)
  }

  async list(query = '', namespace?: string): Promise<Loose> {
    const { status, body } = await this.send('GET', `${this.works(namespace)}${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  works(namespace?: string): string {
    return `${this.home.path}${namespace === undefined ? '' : `/namespaces/${namespace}`}/works`
  }

  store(method: string, namespace: string, name: string, spec: Loose = {}) {
    const work = { apiVersion: apiVersionOf(WORKS.kind), kind: 'Work', metadata: { name, namespace }, spec }
    if (method === 'POST') return this.send(method, this.works(namespace), work)
    const path = `${this.works(namespace)}/${name}`
    if (method === 'DELETE') return this.send(method, path)
    return this.send('PATCH', path, { spec }, { headers: { 'content-type': 'application/merge-patch+json' } })
  }
}

const nameOf = ({ metadata }: Loose): string => `${metadata.namespace}/${metadata.name}`

/** An object without what differs from read to read. */
function content({ metadata: { resourceVersion: _version, ...metadata }, ...rest }: Loose): Loose {
  return { ...rest, metadata }
}

/** A client as informers are: lists, watches, and comes back with the last version it has seen. */
export class ProjectionWatch {
  readonly copy = new Map<string, Loose>()
  readonly #world: ProjectionWorld
  #version = ''
  #stop = new AbortController()
  #reading: Promise<void> = Promise.resolve()
  lists = 0

  constructor(world: ProjectionWorld) {
    this.#world = world
  }

  /** The version with which it comes back. */
  get version(): string {
    return this.#version
  }

  async #list(): Promise<void> {
    this.lists += 1
    this.copy.clear()
    let next = ''
    do {
      const page = await this.#world.list(`?limit=3${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`)
      for (const object of page.items) this.copy.set(nameOf(object), content(object))
      this.#version = page.metadata.resourceVersion
      next = page.metadata.continue ?? ''
    } while (next !== '')
  }

  /** Watches until it has received a number of events, as if the connection broke then. */
  async connect(events: number): Promise<void> {
    await this.disconnect()
    if (this.#version === '') await this.#list()
    const { home } = this.#world
    const stop = (this.#stop = new AbortController())
    const path = `${this.#world.works()}?watch=true&resourceVersion=${this.#version}`
    const request = { method: 'GET', path, headers: { accept: 'application/json' } }
    const answering = home.rows(request, { user: 'admin', groups: ['system:masters'] }, stop.signal)
    await home.clock.settle()
    const { body } = await answering
    let left = events
    this.#reading = (async () => {
      for await (const bytes of body) {
        for (const line of fromUtf8(bytes).trim().split('\n')) {
          if (left-- <= 0) return stop.abort()
          this.#take(JSON.parse(line))
        }
      }
    })()
  }

  #take({ type, object }: Loose): void {
    if (type === 'ERROR') {
      assert.equal(object.code, 410, JSON.stringify(object))
      this.#version = ''
      return
    }
    const version = object.metadata.resourceVersion
    assert.ok(Number(version) >= Number(this.#version), `${version} comes after ${this.#version}`)
    this.#version = version
    if (type === 'DELETED') this.copy.delete(nameOf(object))
    else this.copy.set(nameOf(object), content(object))
  }

  async disconnect(): Promise<void> {
    this.#stop.abort()
    await this.#world.home.clock.settle()
    await this.#reading
  }
}

/** The promises, as tests. */
export function projectionsContract(name: string, open: () => Promise<ProjectionHome>): void {
  describe(`projected kinds: ${name}`, { timeout: 120_000 }, () => {
    const clusters = ['east', 'north', 'south', 'west']
    let world: ProjectionWorld
    before(async () => {
      world = new ProjectionWorld(await open())
      await world.begin(clusters)
      for (const bundle of ['web', 'api']) await world.bundle(bundle)
      await world.report('north', { web: 'Failed', api: 'Ready' })
    })
    after(() => world.home.close())

    it('one object per bundle and cluster, under the names of the other system', async () => {
      const all = await world.list()
      assert.deepEqual(
        all.items.map(nameOf).sort(),
        clusters.flatMap((cluster) => [`${cluster}/shop.api`, `${cluster}/shop.web`]).sort(),
      )
      const north = await world.list('', 'north')
      assert.deepEqual(
        north.items.map((work: Loose) => [work.metadata.name, work.status.state]),
        [
          ['shop.api', 'Ready'],
          ['shop.web', 'Failed'],
        ],
      )
      const { body } = await world.send('GET', `${world.works('north')}/shop.web`)
      const [, web] = north.items
      assert.deepEqual(content(body), content(web))
      assert.match(web.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/)
      const missing = await world.send('GET', `${world.works('north')}/shop.other`)
      assert.equal(missing.status, 404)
    })

    it('pages go on where the last page ended, and a Table has the columns of the kind', async () => {
      const seen: string[] = []
      let next = ''
      do {
        const page = await world.list(`?limit=3${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`)
        assert.ok(page.items.length <= 3)
        seen.push(...page.items.map(nameOf))
        next = page.metadata.continue ?? ''
      } while (next !== '')
      assert.deepEqual([seen.length, new Set(seen).size], [8, 8])
      const table = await world.send('GET', world.works('north'), undefined, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      })
      assert.deepEqual(
        table.body.rows.map((row: Loose) => row.cells),
        [
          ['shop.api', 'Ready'],
          ['shop.web', 'Failed'],
        ],
      )
    })

    it('is selected by labels, name and namespace', async () => {
      const labelled = await world.list('?labelSelector=bundle%3Dweb')
      assert.equal(labelled.items.length, clusters.length)
      const named = await world.list('?fieldSelector=metadata.name%3Dshop.api', 'east')
      assert.deepEqual(named.items.map(nameOf), ['east/shop.api'])
      const inOne = await world.list('?fieldSelector=metadata.namespace%3Deast')
      assert.equal(inOne.items.length, 2)
    })

    it('is read by users with rights on the kind, in their namespace', async () => {
      const group = world.home.path.split('/')[2]!
      const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/north'
      assert.equal((await world.send('GET', world.works('north'), undefined, { user: 'ann' })).status, 403)
      const rules = [{ apiGroups: [group], resources: ['works'], verbs: ['get', 'list', 'watch'] }]
      await world.send('POST', `${roles}/roles`, { metadata: { name: 'works' }, rules })
      await world.send('POST', `${roles}/rolebindings`, {
        metadata: { name: 'ann' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'works' },
        subjects: [{ kind: 'User', name: 'ann' }],
      })
      await world.home.clock.advance(11_000)
      assert.equal((await world.send('GET', world.works('north'), undefined, { user: 'ann' })).status, 200)
      assert.equal((await world.send('GET', world.works('south'), undefined, { user: 'ann' })).status, 403)
      assert.equal((await world.send('GET', world.works(), undefined, { user: 'ann' })).status, 403)
    })

    it('a write of a computed object is refused with the object to change', async () => {
      const path = `${world.works('north')}/shop.web`
      const { body: work } = await world.send('GET', path)
      for (const [method, body, headers] of [
        ['DELETE', undefined, {}],
        ['PUT', work, {}],
        ['PATCH', { spec: {} }, { 'content-type': 'application/merge-patch+json' }],
      ] as const) {
        for (const dryRun of ['', '?dryRun=All']) {
          const refused = await world.send(method, `${path}${dryRun}`, body, { headers })
          assert.equal(refused.status, 422, JSON.stringify(refused.body))
          assert.match(
            refused.body.message,
            /^Work\.\S+ "shop\.web" is invalid: metadata\.name: Forbidden: the object is computed from Bundle\.flotilla\.dev "web" in namespace "shop"; change that object instead$/,
          )
        }
      }
    })

    it('a kind that is never stored stores nothing, also by an apply', async () => {
      if (world.home.storesWorks) return
      const work = { apiVersion: apiVersionOf(WORKS.kind), kind: 'Work', metadata: { name: 'shop.none' }, spec: {} }
      const headers = { 'content-type': 'application/apply-patch+yaml' }
      const path = `${world.works('north')}/shop.none?fieldManager=test`
      assert.equal((await world.send('PATCH', path, work, { headers })).status, 404)
      assert.equal((await world.send('POST', world.works('north'), work)).status, 405)
    })

    it('a list and the watch from it give every later state, through broken connections (I-02, I-03)', async () => {
      for (const seed of ['ash', 'birch', 'cedar']) await followWorld(world, clusters, seed)
    })
  })
}

/** Random changes, and a client that comes and goes; in the end the client has what a new list has. */
async function followWorld(world: ProjectionWorld, clusters: readonly string[], seed: string): Promise<void> {
  const ids = createSeededIds(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(ids.fraction() * items.length)]!
  const followers = [new ProjectionWatch(world), new ProjectionWatch(world)]
  const bundles = new Set(['web', 'api'])
  for (let step = 0; step < 60; step += 1) {
    const what = ids.fraction()
    const cluster = pick(clusters)
    if (what < 0.4) await world.report(cluster, { web: pick(STATES), api: pick(STATES) })
    else if (what < 0.5) {
      const bundle = pick(['web', 'api', 'db'])
      if (bundles.delete(bundle)) await world.send('DELETE', `${OWN}/namespaces/shop/bundles/${bundle}`)
      else await world.bundle(bundles.add(bundle) && bundle)
    } else if (world.home.storesWorks && what < 0.8) {
      // Some have the name that a computed one has, or had.
      await world.store(pick(['POST', 'POST', 'PATCH', 'DELETE']), cluster, pick(['own-1', 'own-2', 'shop.db']), {
        step,
      })
    } else if (what < 0.9) await world.home.clock.advance(ids.fraction() * 300)
    for (const follower of followers) if (ids.fraction() < 0.2) await follower.connect(Math.floor(ids.fraction() * 6))
  }
  const now = new Map<string, Loose>((await world.list()).items.map((work: Loose) => [nameOf(work), content(work)]))
  for (const follower of followers) {
    // A list that was answered with 410 is repeated once.
    for (let tries = 0; tries < 2; tries += 1) {
      await follower.connect(Infinity)
      await world.home.clock.advance(3_000)
    }
    await follower.disconnect()
    const seen = (entries: Iterable<[string, Loose]>) =>
      [...entries].map(([key, value]) => `${key} ${JSON.stringify(value)}`).sort()
    assert.deepEqual(seen(follower.copy), seen(now), `seed ${seed}, after ${follower.lists} lists`)
  }
  for (const bundle of ['web', 'api']) if (!bundles.has(bundle)) await world.bundle(bundle)
  if (bundles.has('db')) await world.send('DELETE', `${OWN}/namespaces/shop/bundles/db`)
  if (!world.home.storesWorks) return
  for (const cluster of clusters) await world.send('DELETE', world.works(cluster), undefined, {}).catch(() => {})
}
