/**
 * Clusters registered by a kubeconfig: a hub as a process that runs the agents of many simulated API servers (embedded
 * ones, in the process of the bench), and one of them that hangs.
 *
 *   node bench/pushed.bench.ts [--clusters 200] [--seconds 120]
 *
 * Compare with the figures of `agent.bench.ts`, which has the agent that runs in its cluster.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findCondition } from '../src/core/conditions.ts'
import { ConfigMap, Secret } from '../src/kinds/builtin/core.ts'
import { Bundle } from '../src/kinds/native/bundle.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { configMapManifest } from '../src/testing/fixtures/builders.ts'
import { kubeconfigSecret, placeHello, startPushedSite, startPushHub } from '../test/e2e/pushed-sites.ts'
import type { PushedSite } from '../test/e2e/pushed-sites.ts'

const { values } = parseArgs({
  options: { clusters: { type: 'string', default: '200' }, seconds: { type: 'string', default: '120' } },
})
const count = Number(values.clusters)
const seconds = Number(values.seconds)
const CLOCK_TICKS_MS = 10
const closers: (() => void | Promise<void>)[] = []
const t = { after: (close: () => void | Promise<void>): void => void closers.unshift(close) }
const folder = mkdtempSync(join(tmpdir(), 'flotilla-pushed-bench-'))
t.after(() => rmSync(folder, { recursive: true, force: true }))

/** What a process used so far: processor time of all its threads, and its memory. */
function usageOf(pid: number): { readonly cpuMs: number; readonly rssMb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const kb = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * CLOCK_TICKS_MS, rssMb: kb / 1000 }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > 900_000) throw new Error(`${what}: not within 15 minutes`)
    await sleep(1000)
  }
  return Math.round((performance.now() - began) / 1000)
}

try {
  const { hub, client } = await startPushHub(t, join(folder, 'hub'), '--push-hosts', '127.0.0.1')
  const sites: PushedSite[] = []
  for (let at = 0; at < count; at++) sites.push(await startPushedSite(t))
  await sleep(20_000)
  const empty = usageOf(hub.pid)
  await sleep(30_000)
  const idle = (usageOf(hub.pid).cpuMs - empty.cpuMs) / 30
  console.log(`hub without clusters: ${empty.rssMb.toFixed(0)} MB, ${idle.toFixed(1)} ms of CPU per second`)

  for (const [at, site] of sites.entries()) {
    const name = `store-${at}`
    await client.create(Secret, kubeconfigSecret(name, site.kubeconfig))
    await client.create(Cluster, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels: { tier: 'store' } },
      spec: { accepted: true, kubeconfigSecret: { namespace: 'flotilla-system', name } } as Cluster['spec'],
    })
  }
  const running = async (): Promise<number> =>
    (await client.list(Cluster)).items.filter(
      ({ status }) => findCondition(status?.conditions, 'Pushed')?.reason === 'Running',
    ).length
  const joined = await until('all agents run', async () => (await running()) === count)
  await placeHello(client, { greeting: 'hi' })
  const has = async (greeting: string, among: readonly PushedSite[]): Promise<boolean> => {
    const found = among.map(async (site) => await site.client.get(ConfigMap, { namespace: 'default', name: 'hello' }))
    return (await Promise.all(found)).every(({ data }) => data?.['greeting'] === greeting)
  }
  const delivered = await until('the first bundle', async () => await has('hi', sites))
  await sleep(30_000)
  const before = usageOf(hub.pid)
  await sleep(seconds * 1000)
  const after = usageOf(hub.pid)
  const perSecond = (after.cpuMs - before.cpuMs) / seconds
  console.log(`${count} clusters: all agents run after ${joined} s, a first bundle everywhere ${delivered} s later`)
  console.log(
    `at rest: ${after.rssMb.toFixed(0)} MB and ${perSecond.toFixed(0)} ms of CPU per second; ` +
      `for each cluster ${((after.rssMb - empty.rssMb) / count).toFixed(1)} MB and ${((perSecond - idle) / count).toFixed(2)} ms`,
  )

  sites[0]!.hangs = true
  const body = { spec: { manifests: configMapManifest('hello', { greeting: 'again' }) } }
  await client.patch(Bundle, { namespace: 'default', name: 'hello' }, { type: 'merge', body })
  const others = await until('a change on the other clusters', async () => await has('again', sites.slice(1)))
  console.log(`one cluster hangs: a change is on the other ${count - 1} after ${others} s`)
} finally {
  for (const close of closers) await close()
}
