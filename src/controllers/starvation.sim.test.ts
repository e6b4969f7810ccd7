/**
 * One tenant at its limits and another one beside it, in virtual time with the renderer and the fetches of a hub. The
 * busy tenant has many namespaces, so that turns by namespace would let it go first again and again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../core/bytes.ts'
import { silentLogger } from '../core/log.ts'
import { createRenderer } from '../hub/threads/limited-renderer.ts'
import type { Thread } from '../hub/threads/thread.ts'
import { Namespace } from '../kinds/builtin/core.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { Placement } from '../kinds/native/placement.ts'
import { Project } from '../kinds/native/project.ts'
import { Source } from '../kinds/native/source.ts'
import { storeFiles } from '../source/store-files.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../testing/fixtures/builders.ts'
import { buildProject } from '../testing/fixtures/projects.ts'
import { startControllersHome } from '../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../testing/hub/controllers-home.ts'

/** The time that each rendering takes. */
const RENDER_MS = 400
const BUSY_NAMESPACES = Array.from({ length: 20 }, (_, at) => `busy-${at}`)
const BUNDLES = 2
const SAMPLES = 30
const STEP_MS = 50

/** Lets all renderings go through the renderer of a hub, with threads that take their time. */
function slowDown(hub: ControllersHome): void {
  hub.serveRenders((render) => {
    const thread: Thread<'render'> = {
      ready: undefined,
      call: async (request, signal) => {
        await hub.clock.sleep(RENDER_MS, signal)
        return await render(request, signal)
      },
      metrics: async () => '',
      ping: async () => {},
      death: new Promise<never>(() => {}),
      close: async () => {},
      kill: async () => {},
    }
    const start = async () => thread
    const renderer = createRenderer({
      blobs: { kind: 'files', folder: '' },
      clock: hub.clock,
      log: silentLogger,
      restAfterMs: 600_000,
      start,
    })
    return renderer.render
  })
}

async function addTenant(hub: ControllersHome, name: string, namespaces: readonly string[], spec: Project['spec']) {
  for (const namespace of namespaces) await hub.create(build(Namespace, namespace, {}), Namespace)
  await hub.create(buildProject(name, namespaces, spec), Project)
  for (const namespace of namespaces) await hub.create(buildPlacement(`${namespace}/everywhere`, {}), Placement)
}

const bundle = (key: string, value: string) =>
  buildBundle(key, { manifests: configMapManifest('hello', { value }), rollout: { concurrency: 1 } })

/** Milliseconds from the creation of each Bundle of the quiet tenant to its Release, in ascending order. */
async function quietTenant(hub: ControllersHome): Promise<number[]> {
  const times: number[] = []
  for (let at = 0; at < SAMPLES; at++) {
    const began = hub.clock.now()
    await hub.create(bundle(`quiet/b-${at}`, String(at)), Bundle)
    while (!(await hub.find(Bundle, `quiet/b-${at}`))?.status?.release) {
      await hub.clock.advance(STEP_MS)
      assert.ok(hub.clock.now() - began < 600_000, 'the Bundle is released')
    }
    times.push(hub.clock.now() - began)
  }
  return times.toSorted((a, b) => a - b)
}

async function measure(busy: boolean): Promise<{ readonly p99: number; readonly told: string }> {
  const hub = await startControllersHome()
  try {
    slowDown(hub)
    await hub.create(buildCluster('store-1'), Cluster)
    await addTenant(hub, 'quiet', ['quiet'], {})
    const quotas = { rendersPerMinute: 20 }
    if (busy) {
      await addTenant(hub, 'busy', BUSY_NAMESPACES, { quotas })
      for (const namespace of BUSY_NAMESPACES) {
        for (let at = 0; at < BUNDLES; at++) await hub.create(bundle(`${namespace}/b-${at}`, 'x'), Bundle)
      }
    }
    const times = await quietTenant(hub)
    const waiting = busy ? await hub.client.list(Bundle, { namespace: BUSY_NAMESPACES.at(-1)! }) : undefined
    const conditions = (waiting?.items ?? []).flatMap(({ status }) => status?.conditions ?? [])
    return {
      p99: times[Math.ceil(times.length * 0.99) - 1]!,
      told: conditions.find(({ reason }) => reason === 'RenderQuota')?.message ?? '',
    }
  } finally {
    await hub.close()
  }
}

/** The times that fetches take, one after the other. */
const FETCHES_MS = [1200, 2800, 1700, 2300, 2000, 900, 2600]

const source = (key: string) =>
  build(Source, key, { spec: { git: { url: `https://git.example.com/${key}` }, interval: '1m' } })

/** All Sources are on one server, and the busy tenant has more than the server may be asked at once. */
async function measureFetches(isBusy: boolean): Promise<{ readonly p99: number; readonly told: string }> {
  const hub = await startControllersHome()
  let fetches = 0
  try {
    hub.serveSources(async ({ spec, previous }, signal) => {
      await hub.clock.sleep(FETCHES_MS[fetches++ % FETCHES_MS.length]!, signal)
      if (previous) return { kind: 'Same' }
      const stored = await storeFiles(new Map([['cm.yaml', utf8('{}')]]), spec, hub.blobs)
      return {
        kind: 'New',
        artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' },
      }
    })
    await addTenant(hub, 'quiet', ['quiet'], {})
    if (isBusy) {
      await addTenant(hub, 'busy', BUSY_NAMESPACES, { quotas: { sources: 150 } })
      for (const namespace of BUSY_NAMESPACES) {
        for (let at = 0; at < 10; at++) await hub.create(source(`${namespace}/s-${at}`), Source)
      }
    }
    const times: number[] = []
    for (let at = 0; at < SAMPLES; at++) {
      const began = hub.clock.now()
      await hub.create(source(`quiet/s-${at}`), Source)
      while (!(await hub.find(Source, `quiet/s-${at}`))?.status?.artifact) {
        await hub.clock.advance(STEP_MS)
        assert.ok(hub.clock.now() - began < 600_000, 'the Source is fetched')
      }
      times.push(hub.clock.now() - began)
    }
    const all = isBusy ? (await hub.client.list(Source)).items : []
    const told = all.flatMap(({ status }) => status?.conditions ?? []).filter(({ message }) => /quotas/.test(message))
    const sorted = times.toSorted((a, b) => a - b)
    return { p99: sorted[Math.ceil(sorted.length * 0.99) - 1]!, told: told[0]?.message ?? '' }
  } finally {
    await hub.close()
  }
}

test('a tenant with too many Sources is told so, and delays the p99 of fetches of another tenant by less than 2x', async () => {
  const [alone, beside] = [await measureFetches(false), await measureFetches(true)]
  assert.ok(alone.p99 >= Math.max(...FETCHES_MS), 'fetches take their time')
  assert.ok(beside.p99 < 2 * alone.p99, `${beside.p99} ms beside a busy tenant, ${alone.p99} ms alone`)
  assert.match(beside.told, /^Project busy: spec\.quotas\.sources is 150/)
})

test('a tenant at its limit is told so, and delays the p99 of another tenant by less than 2x', async () => {
  const [alone, beside] = [await measure(false), await measure(true)]
  assert.ok(alone.p99 >= RENDER_MS, 'renderings take their time')
  assert.ok(beside.p99 < 2 * alone.p99, `${beside.p99} ms beside a busy tenant, ${alone.p99} ms alone`)
  assert.match(beside.told, /^Project busy: spec\.quotas\.rendersPerMinute is 20, and the Project has used it up/)
})
