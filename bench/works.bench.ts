/**
 * Deliveries and ManifestWorks through the embedded API and all controllers: node bench/works.bench.ts [WORKS]
 * [CLUSTERS]… [--kube WORKS] Each of the clusters gets this number of works, over SQLite, with the API, the caches and every controller
 * as the hub runs them. Only the agents are simulated: a cluster whose document has changed reports Ready one second
 * later. Measured are the CPU time from create to Applied, and the writes of the hub for each work and cluster; with
 * one work a cluster nothing is shared. `--kube` compares a ManifestWork with the writes that Open Cluster Management
 * makes for one on a kube-apiserver and etcd, in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ManifestWork } from '../src/dialects/ocm/works/kinds.ts'
import { Assignment } from '../src/kinds/native/assignment.ts'
import { REMOVAL_FINALIZER } from '../src/kinds/native/bundle.ts'
import { Cluster } from '../src/kinds/native/cluster.ts'
import { ClusterReport } from '../src/kinds/native/cluster-report.ts'
import { Delivery } from '../src/kinds/native/delivery.ts'
import { Namespace } from '../src/kinds/builtin/core.ts'
import { createSqliteStore } from '../src/store/sqlite-store.ts'
import { build, buildCluster } from '../src/testing/fixtures/builders.ts'
import { startControllersHome } from '../src/testing/hub/controllers-home.ts'
import type { ControllersHome } from '../src/testing/hub/controllers-home.ts'
import { storeObjects } from '../src/testing/simulation/shop-delivery.ts'
import { kubeMsPerWork } from './kube-works.ts'

const { values, positionals } = parseArgs({ options: { kube: { type: 'string' } }, allowPositionals: true })
const [works = 5, ...sizes] = positionals.map(Number)
const STEP_MS = 1000
const MAX_STEPS = 300

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { name },
})

/** Creates one work for a cluster. */
type Create = (hub: ControllersHome, cluster: string, name: string) => Promise<unknown>

const CREATES: Readonly<Record<string, { readonly create: Create; readonly kind: string }>> = {
  Delivery: {
    kind: 'deliveries',
    create: async (hub, cluster, name) => {
      const set = await storeObjects(hub.blobs, [configMap(name)])
      const finalizers = [REMOVAL_FINALIZER]
      return hub.create(
        build(Delivery, `${cluster}/${name}`, { spec: { set, clusters: [cluster] } }, { finalizers }),
        Delivery,
      )
    },
  },
  ManifestWork: {
    kind: 'manifestworks',
    create: (hub, cluster, name) =>
      hub.create(
        build(ManifestWork, `${cluster}/${name}`, { spec: { workload: { manifests: [configMap(name)] } } }),
        ManifestWork,
      ),
  },
}

async function measure(of: string, count: number, each: number) {
  const directory = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const hub = await startControllersHome(['ocm'], createSqliteStore({ path: join(directory, 'hub.sqlite') }))
  let cpuMs = 0
  const work = async () => {
    const began = process.cpuUsage()
    await hub.clock.advance(STEP_MS)
    const { user, system } = process.cpuUsage(began)
    cpuMs += (user + system) / 1000
  }
  try {
    const names = Array.from({ length: count }, (_, i) => `store-${String(i).padStart(5, '0')}`)
    for (const name of names) {
      await hub.create(buildCluster(name), Cluster)
      await hub.create(build(Namespace, name, {}), Namespace)
      await hub.report(name, 'Ready')
    }
    await work()
    await work()
    cpuMs = 0
    hub.writes.length = 0
    const { create } = CREATES[of]!
    for (const name of names) for (let nth = 0; nth < each; nth++) await create(hub, name, `work-${nth}`)
    const reported = new Map<string, number>()
    let reports = 0
    for (let step = 0; step < MAX_STEPS; step++) {
      await work()
      let isDone = true
      for (const name of names) {
        const assignment = await hub.find(Assignment, name)
        isDone &&= assignment?.spec.entries.length === each && reported.get(name) === assignment.spec.revision
        const { revision = 0 } = assignment?.spec ?? {}
        if (revision <= (reported.get(name) ?? 0)) continue
        reported.set(name, revision)
        reports += 1
        await reportReady(hub, name)
      }
      if (isDone) break
    }
    await work()
    await work()
    const kinds = Map.groupBy(hub.writes, (write) =>
      write.replaceAll(/store-\d+|work-\d+/g, '*').replace(/.*\/v1(?:alpha1)?\//, ''),
    )
    return {
      total: count * each,
      kinds: [...kinds].map(([kind, those]) => `${kind} ${those.length}`),
      cpuMs,
      writes: hub.writes.length + reports,
      status: await appliedCount(hub, of, names, each),
    }
  } finally {
    await hub.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Plays the agent: everything of the document is applied and exists. */
async function reportReady(hub: ControllersHome, cluster: string): Promise<void> {
  await hub.report(cluster, 'Ready')
  const report = (await hub.find(ClusterReport, cluster))!
  const feedback = report.spec.bundles.map(({ bundle, generation }) => {
    const { namespace, name } = configMap(bundle.slice(bundle.indexOf(':') + 1)).metadata
    return {
      bundle,
      generation,
      objects: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace, name, applied: true, available: true }],
    }
  })
  await hub.client.update(ClusterReport, { ...report, spec: { ...report.spec, feedback } })
}

/** How many works say that they arrived. */
async function appliedCount(hub: ControllersHome, of: string, names: readonly string[], each: number): Promise<number> {
  let count = 0
  for (const name of names) {
    for (let nth = 0; nth < each; nth++) {
      const found =
        of === 'Delivery'
          ? (await hub.find(Delivery, `${name}/work-${nth}`))?.status?.conditions
          : (await hub.find(ManifestWork, `${name}/work-${nth}`))?.status?.conditions
      const type = of === 'Delivery' ? 'Ready' : 'Applied'
      if (found?.some((one) => one.type === type && one.status === 'True')) count += 1
    }
  }
  return count
}

let lastMs = 0
for (const of of Object.keys(CREATES)) {
  await measure(of, 5, 1) // warm up the compiler
  const results = []
  for (const [count, each] of [
    ...(sizes.length > 0 ? sizes : [50, 100, 200]).map((size) => [size, works] as const),
    [50, 1] as const,
  ]) {
    const result = await measure(of, count, each)
    if (each === works) results.push(result)
    const { total, cpuMs, writes, status, kinds } = result
    console.log(
      `${of}: ${each} × ${count} clusters = ${total}: ${(cpuMs / total).toFixed(2)} ms of CPU each, ${(1000 / (cpuMs / total)).toFixed(0)} a CPU-second; ${(writes / total).toFixed(2)} writes each; ${status} arrived`,
    )
    console.log(`  ${kinds.join(', ')}`)
  }
  const [first, last] = [results[0]!, results.at(-1)!]
  const growth = last.cpuMs / last.total / (first.cpuMs / first.total)
  lastMs = last.cpuMs / last.total
  console.log(`${of}: growth from ${first.total} to ${last.total}: CPU each ${growth.toFixed(2)}×`)
}

if (values.kube !== undefined) {
  const kubeMs = await kubeMsPerWork(Number(values.kube), configMap)
  console.log(
    `kube-apiserver and etcd, four writes for a ManifestWork: ${kubeMs.toFixed(2)} ms of CPU each, ${(1000 / kubeMs).toFixed(0)} a CPU-second; ${(kubeMs / lastMs).toFixed(1)}× ours from create to Applied`,
  )
}
