/**
 * What grows with the fleet on a kube-apiserver: node bench/growth.bench.ts [CLUSTERS]… Two hubs with all roles, a real
 * kube-apiserver with etcd, a real S3 server, and real agents over TLS run one Bundle with one ConfigMap. Measured are
 * the objects and their sizes as the API returns them, the blobs in the bucket, the requests of the hub by the audit
 * log while nothing changes and while a new version goes to all clusters, and its open watches. Needs `npm run
 * testenv`. Two sizes give the share of one cluster.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { compareText } from '../src/core/text/compare-text.ts'
import { Assignment } from '../src/kinds/native/assignment.ts'
import { Bundle } from '../src/kinds/native/bundle.ts'
import { ClusterReport } from '../src/kinds/native/cluster-report.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { JoinToken } from '../src/kinds/native/join-token.ts'
import type { KubeObject, ResourceType } from '../src/kinds/meta.ts'
import { PlacementDecision } from '../src/kinds/native/placement-decision.ts'
import { Placement } from '../src/kinds/native/placement.ts'
import { Rollout } from '../src/kinds/native/rollout.ts'
import { buildBundle, buildPlacement, configMapManifest } from '../src/testing/fixtures/builders.ts'
import { joinSites, startHaWorld, untilAllReported, untilAllRun } from '../test/e2e/ha-world.ts'
import type { HaWorld } from '../test/e2e/ha-world.ts'
import { HUB_USER } from '../test/e2e/hub-user.ts'

const sizes = process.argv.slice(2).map(Number)
const REST_MS = 60_000
const MINUTE_MS = 60_000
const KINDS: readonly ResourceType<KubeObject>[] = [
  Cluster,
  Assignment,
  ClusterReport,
  JoinToken,
  PlacementDecision,
  Rollout,
]

interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource: string; readonly subresource?: string }
  readonly requestReceivedTimestamp: string
}

/** Requests of the hub between two times, by verb and resource, without watches. */
function requestsOf({ auditLog }: HaWorld, fromMs: number, toMs: number): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of readFileSync(auditLog, 'utf8').split('\n')) {
    if (line === '') continue
    const { verb, user, objectRef, requestReceivedTimestamp } = JSON.parse(line) as AuditEvent
    const atMs = Date.parse(requestReceivedTimestamp)
    if (user.username !== HUB_USER || verb === 'watch' || atMs < fromMs || atMs > toMs) continue
    const { resource = '-', subresource } = objectRef ?? {}
    const name = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

function print(title: string, counts: Map<string, number>, per: number): void {
  console.log(title)
  for (const [name, count] of [...counts].toSorted(([a], [b]) => compareText(a, b)))
    console.log(`  ${name.padEnd(36)} ${(count / per).toFixed(2)}`)
}

async function sizesOf({ client, s3 }: HaWorld, clusters: number): Promise<void> {
  for (const kind of KINDS) {
    const { items } = await client.list(kind)
    const bytes = items.reduce((sum, item) => sum + JSON.stringify(item).length, 0)
    console.log(
      `  ${kind.plural.padEnd(20)} ${items.length} objects, ${Math.round(bytes / Math.max(1, items.length))} bytes each`,
    )
  }
  const blobs = readdirSync(s3.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const bytes = blobs.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0)
  console.log(
    `  blobs                ${blobs.length} objects, ${bytes} bytes (${Math.round(bytes / clusters)} per cluster)`,
  )
}

async function watchesOf({ home }: HaWorld): Promise<number> {
  const { text } = await home.call('GET', '/metrics')
  return [...text.matchAll(/^apiserver_longrunning_requests\{[^}]*verb="WATCH"[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )
}

async function measure(clusters: number): Promise<void> {
  const ends: (() => void | Promise<void>)[] = []
  const context = {
    after: (end: () => void | Promise<void>) => void ends.push(end),
    diagnostic: (text: string) => console.log(text),
  }
  try {
    const world = await startHaWorld(context, [{ name: 'hub-0' }, { name: 'hub-1' }])
    const before = await watchesOf(world)
    const sites = await joinSites(world, clusters)
    const write = async (version: number): Promise<void> => {
      const manifests = configMapManifest('shop', { version: String(version) })
      const bundle = buildBundle('default/shop', { manifests, placement: 'stores', rollout: { concurrency: 1000 } })
      await world.client.apply(Bundle, bundle, { fieldManager: 'person', force: true })
      await untilAllRun(sites, version, 'the version', 600_000)
      await untilAllReported(world, sites)
    }
    await world.client.create(Placement, buildPlacement('default/stores', { tier: 'store' }))
    await write(1)
    await sleep(MINUTE_MS / 2)
    console.log(
      `${clusters} clusters; watches on the kube-apiserver: ${await watchesOf(world)}, before the agents ${before}`,
    )
    const restFrom = Date.now()
    await sleep(REST_MS)
    print('requests each minute at rest', requestsOf(world, restFrom, Date.now()), REST_MS / MINUTE_MS)
    await sizesOf(world, clusters)
    const changeFrom = Date.now()
    await write(2)
    await sleep(MINUTE_MS / 4)
    const changed = requestsOf(world, changeFrom, Date.now())
    print('requests for a new version, per cluster', changed, clusters)
    await sizesOf(world, clusters)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

for (const count of sizes.length > 0 ? sizes : [8, 32]) await measure(count)
process.exit(0)
