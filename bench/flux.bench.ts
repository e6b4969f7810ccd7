/**
 * Kustomizations and HelmReleases of Flux from a commit to Ready, through the embedded API and all controllers: node
 * bench/flux.bench.ts [CLUSTERS] [OBJECTS]… OBJECTS is the number of Kustomizations and of HelmReleases; each of them is
 * for five of the clusters. API, caches, renderer and every controller run as in the hub, over SQLite; git is served from
 * memory, time is virtual, and the agents are simulated: a cluster whose document has changed reports Ready one second
 * later. Measured are the CPU time of the whole process from the commit until every object is Ready with its revision,
 * and the virtual time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { utf8 } from '../src/core/bytes.ts'
import { GitRepository, Kustomization } from '../src/dialects/flux/kinds.ts'
import { HelmRelease } from '../src/dialects/flux/release/release-kind.ts'
import { Assignment } from '../src/kinds/native/assignment.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { Placement } from '../src/kinds/native/placement.ts'
import { storeFiles } from '../src/source/store-files.ts'
import { createSqliteStore } from '../src/store/sqlite-store.ts'
import { build, buildCluster } from '../src/testing/fixtures/builders.ts'
import { startControllersHome } from '../src/testing/hub/controllers-home.ts'

const [clusters = 500, ...sizes] = process.argv.slice(2).map(Number)
const NS = 'flux-system'
const PER_SITE = 5
const STEP_MS = 1000
const MAX_STEPS = 900
const INTERVAL = '10m'

function filesOf(objects: number, version: number): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const add = (path: string, text: string): void => void files.set(path, utf8(text))
  for (let at = 0; at < objects; at++) {
    const data = `data: {v: "${version}"}`
    add(
      `apps/a${at}/cm.yaml`,
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a${at}, namespace: default}\n${data}\n`,
    )
  }
  add('charts/web/Chart.yaml', `apiVersion: v2\nname: web\nversion: 1.0.${version}\n`)
  add('charts/web/values.yaml', 'replicas: 1\n')
  add(
    'charts/web/templates/cm.yaml',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {v: {{ .Chart.Version | quote }}, n: {{ .Values.n | quote }}}\n',
  )
  return files
}

async function measure(count: number, objects: number) {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const hub = await startControllersHome(['flux'], createSqliteStore({ path: join(directory, 'hub.sqlite') }))
  let version = 0
  hub.serveSources(async ({ spec, previous }) => {
    const commit = String(version).padStart(40, '0')
    if (previous?.commit === commit) return { kind: 'Same' }
    const stored = await storeFiles(filesOf(objects, version), spec, hub.blobs)
    const artifact = { ...stored, revision: `main@sha1:${commit}`, commit, fetchedBytes: 1, from: 'bench' }
    return { kind: 'New', artifact }
  })
  const names = Array.from({ length: count }, (_, at) => `store-${String(at).padStart(5, '0')}`)
  const reported = new Map<string, number>()
  /** Advances until all objects are Ready with the present revision; returns the CPU time and the virtual seconds. */
  const untilReady = async () => {
    let cpuMs = 0
    for (let step = 1; step <= MAX_STEPS; step++) {
      const began = process.cpuUsage()
      await hub.clock.advance(STEP_MS)
      const { user, system } = process.cpuUsage(began)
      cpuMs += (user + system) / 1000
      for (const name of names) {
        const { revision = 0 } = (await hub.find(Assignment, name))?.spec ?? {}
        if (revision <= (reported.get(name) ?? 0)) continue
        reported.set(name, revision)
        await hub.report(name, 'Ready')
      }
      if (step % 5 === 0 && (await isAllReady())) return { cpuMs, seconds: step }
    }
    throw new Error(`not ready after ${MAX_STEPS} s: ${await whyNot()}`)
  }
  /** How many objects are in each state, with one message. */
  const whyNot = async (): Promise<string> => {
    const items = [...(await hub.client.list(Kustomization)).items, ...(await hub.client.list(HelmRelease)).items]
    const states = Map.groupBy(items, ({ status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      return `${ready?.status} ${ready?.reason}, ${status?.lastAppliedRevision}`
    })
    const messageOf = ({ status }: (typeof items)[number]) =>
      status?.conditions?.find(({ type }) => type === 'Ready')?.message
    return [...states].map(([state, those]) => `${those.length} ${state} (${messageOf(those[0]!)})`).join('; ')
  }
  const isAllReady = async () => {
    const wanted = `main@sha1:${String(version).padStart(40, '0')}`
    const ready = (
      items: readonly { status?: { lastAppliedRevision?: string; conditions?: readonly object[] } }[],
      revision: string,
    ) =>
      items.length === objects &&
      items.every(
        ({ status }) =>
          status?.lastAppliedRevision === revision &&
          JSON.stringify(status.conditions).includes('"type":"Ready","status":"True"'),
      )
    return (
      ready((await hub.client.list(Kustomization)).items, wanted) &&
      ready((await hub.client.list(HelmRelease)).items, `1.0.${version}`)
    )
  }
  try {
    const sites = Math.ceil(count / PER_SITE)
    for (const [at, name] of names.entries()) {
      await hub.create(buildCluster(name, { labels: { site: `s${at % sites}` } }), Cluster)
      await hub.report(name, 'Ready')
    }
    for (let at = 0; at < sites; at++) {
      const spec = { clusterSelector: { matchLabels: { site: `s${at}` } } }
      await hub.create(build(Placement, `${NS}/s${at}`, { spec }), Placement)
    }
    const git = { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' } }
    await hub.create(build(GitRepository, `${NS}/fleet`, { spec: git }), GitRepository)
    const sourceRef = { kind: 'GitRepository', name: 'fleet' }
    for (let at = 0; at < objects; at++) {
      const annotations = { 'flotilla.dev/placement': `s${at % sites}` }
      const spec = { interval: INTERVAL, prune: true, wait: true, path: `./apps/a${at}`, sourceRef }
      await hub.create(build(Kustomization, `${NS}/a${at}`, { spec }, { annotations }), Kustomization)
      const chart = { spec: { chart: './charts/web', sourceRef } }
      const release = { interval: INTERVAL, chart, targetNamespace: 'default', values: { n: at } }
      await hub.create(build(HelmRelease, `${NS}/r${at}`, { spec: release }, { annotations }), HelmRelease)
    }
    await untilReady()
    version += 1
    hub.writes.length = 0
    const changed = await untilReady()
    return { ...changed, writes: hub.writes.length, kinds: writesByKind(hub.writes) }
  } finally {
    await hub.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The kinds that are written most, for example `PUT bundles/status 5.1`, for each object. */
function writesByKind(writes: readonly string[]): readonly (readonly [kind: string, count: number])[] {
  const kinds = Map.groupBy(writes, (write) => {
    const [method = '', path = ''] = write.split(' ')
    const parts = path.split('/')
    const rest = parts.slice(parts.indexOf('namespaces') < 0 ? 4 : parts.indexOf('namespaces') + 2)
    return [method, [rest[0], ...rest.slice(2)].join('/')].join(' ')
  })
  return [...kinds].map(([kind, those]) => [kind, those.length] as const).toSorted((a, b) => b[1] - a[1])
}

const results: { readonly objects: number; readonly each: number }[] = []
for (const objects of sizes.length > 0 ? sizes : [250, 500, 1000]) {
  const { cpuMs, seconds, writes, kinds } = await measure(clusters, objects)
  const each = cpuMs / (2 * objects)
  results.push({ objects, each })
  console.log(
    `${objects} Kustomizations and ${objects} HelmReleases on ${clusters} clusters: ${(cpuMs / 1000).toFixed(1)} s of CPU from commit to Ready, ${each.toFixed(2)} ms each; ${(writes / (2 * objects)).toFixed(2)} writes each; ready within ${seconds} s of virtual time`,
  )
  console.log(`  ${kinds.map(([kind, count]) => `${kind} ${(count / (2 * objects)).toFixed(2)}`).join(', ')}`)
}
const [first, last] = [results[0]!, results.at(-1)!]
console.log(`growth from ${first.objects} to ${last.objects}: CPU each ${(last.each / first.each).toFixed(2)}×`)
