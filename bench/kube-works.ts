/** What a kube-apiserver and its etcd need for the writes that Open Cluster Management makes for one ManifestWork. */
import type { JsonObject } from '../src/core/json.ts'
import { createClient } from '../src/client/create-client.ts'
import { systemClock } from '../src/core/time/system-clock.ts'
import { ManifestWork } from '../src/dialects/ocm/works/kinds.ts'
import { CustomResourceDefinition } from '../src/kinds/builtin/apiextensions.ts'
import { Namespace } from '../src/kinds/builtin/core.ts'
import { toCrd } from '../src/kinds/crd/to-crd.ts'
import { build } from '../src/testing/fixtures/builders.ts'
import { openReal } from './api-homes.ts'

const AT_ONCE = 16
const CLUSTERS = 50
const FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup'
const CREATE_TRIES = 100

/**
 * CPU milliseconds of the servers for each work: it is created, gets its finalizer, and its status is written twice, for
 * Applied and for Available. The client is not counted, nor are the agent's own writes in its cluster.
 */
export async function kubeMsPerWork(works: number, manifest: (name: string) => JsonObject): Promise<number> {
  const home = await openReal({ connections: AT_ONCE })
  try {
    const client = createClient({ transport: home.transport, clock: systemClock })
    await client.create(CustomResourceDefinition, toCrd(ManifestWork) as unknown as CustomResourceDefinition)
    const names = Array.from({ length: CLUSTERS }, (_, i) => `store-${i}`)
    for (const name of names) await client.create(Namespace, build(Namespace, name, {}))
    for (let tries = 0; ; tries++) {
      const isServed = await client.list(ManifestWork).then(
        () => true,
        () => false,
      )
      if (isServed) break
      if (tries > CREATE_TRIES) throw new Error('ManifestWorks are not served')
      await systemClock.sleep(100)
    }
    const one = async (nth: number): Promise<void> => {
      const key = `${names[nth % CLUSTERS]}/work-${nth}`
      const spec = { workload: { manifests: [manifest(`work-${nth}`)] } }
      const created = await client.create(ManifestWork, build(ManifestWork, key, { spec }))
      created.metadata.finalizers = [FINALIZER]
      let stored = await client.update(ManifestWork, created)
      for (const type of ['Applied', 'Available']) {
        stored = await client.update(ManifestWork, withCondition(stored, type), { subresource: 'status' })
      }
    }
    // Both sides are measured warm.
    await inTurns(0, works, one)
    const before = home.cpu()
    await inTurns(works, 2 * works, one)
    return ((home.cpu() - before) * 1000) / works
  } finally {
    await home.close()
  }
}

function withCondition(work: ManifestWork, type: string): ManifestWork {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const condition = { type, status: 'True' as const, reason: 'Done', message: `${type} is done`, lastTransitionTime }
  const meta = { ordinal: 0, group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps', name: work.metadata.name, namespace: 'default' } // prettier-ignore
  const conditions = [...(work.status?.conditions ?? []), condition]
  return {
    ...work,
    status: {
      conditions,
      resourceStatus: { manifests: [{ resourceMeta: meta, conditions, statusFeedback: {} }] },
    },
  }
}

async function inTurns(from: number, to: number, work: (nth: number) => Promise<void>): Promise<void> {
  let next = from
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < to) await work(next++)
    }),
  )
}
