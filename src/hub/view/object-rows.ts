/** Rows about objects: BundleObject per (bundle, cluster, object), from the set that the cluster is told to have. */
import type { Blobs } from '../../blobs/blobs.ts'
import { digestOfJson, isDigest } from '../../core/crypto/digest.ts'
import { BundleObject } from '../../kinds/views/bundle-object.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { objectState } from '../../plan/fleet/object-state.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { bundleStateRows } from './delivery-rows.ts'
import type { ViewReader } from './bundle-rows.ts'
import type { PositionedRow, RowSource } from './row-source.ts'

/** Where sets are read from. */
export type SetReader = Pick<Blobs, 'get'>

type SetObject = ObjectSet['objects'][number]

/** The source of BundleObjects. */
export function bundleObjectRows(reads: ViewReader, blobs: SetReader): RowSource {
  const states = bundleStateRows(reads)

  async function rowsOf(pair: UnknownObject): Promise<readonly PositionedRow[]> {
    const { bundle, cluster, state } = pair as unknown as Record<'bundle' | 'cluster', string> & {
      readonly state?: string
    }
    const { namespace = '' } = pair.metadata
    // A cluster that left or was turned away has no states.
    if (state === undefined) return []
    const [assignment, report] = await Promise.all([reads.assignment(cluster), reads.report(cluster)])
    const key = `${namespace}/${bundle}`
    const set = assignment?.spec.entries.find((entry) => entry.bundle === key)?.set
    const bytes = set !== undefined && isDigest(set) ? await blobs.get(set) : undefined
    if (!bytes) return []
    const reported = report?.spec.bundles.find((row) => row.bundle === key && row.set === set)
    const { objects, render } = parseObjectSet(bytes)
    // Which objects a cluster renders it alone knows.
    if (render) return []
    return objects
      .map((object) => ({
        at: [namespace, bundle, cluster, positionOf(object)],
        object: {
          apiVersion: apiVersionOf(BundleObject),
          kind: BundleObject.kind,
          metadata: {
            name: `${bundle}.${cluster}.${object.kind.toLowerCase()}-${markOf(object)}`,
            namespace,
            labels: { 'flotilla.dev/bundle': bundle, 'flotilla.dev/cluster': cluster },
          },
          bundle,
          cluster,
          object,
          ...objectState(describeObject(object), reported, state === 'Offline'),
        },
      }))
      .sort((a, b) => compareText(a.at[3]!, b.at[3]!))
  }

  return {
    async get(namespace, name) {
      const pair = await states.get(namespace, name.slice(0, Math.max(0, name.lastIndexOf('.'))))
      const rows = pair ? await rowsOf(pair) : []
      return rows.find(({ object }) => object.metadata.name === name)?.object
    },
    async *rows(range) {
      const [namespace, bundle, cluster, position] = range.after ?? []
      const { after: _after, where, ...below } = range
      // Only pairs can be passed over without being worked out; the state of an object may be another than its
      // bundle's.
      const pairs = { ...below, where: new Map([...where].filter(([field]) => field !== 'state')) }
      const resumed = position === undefined ? undefined : await states.get(namespace!, `${bundle!}.${cluster!}`)
      if (resumed) yield* (await rowsOf(resumed)).filter(({ at }) => compareText(at[3]!, position!) > 0)
      const later = position === undefined ? {} : { after: [namespace!, bundle!, cluster!] }
      for await (const { object } of states.rows({ ...pairs, ...later })) yield* await rowsOf(object)
    },
  }
}

/** A position has no slash. */
function positionOf({ kind, namespace = '', name, apiVersion }: SetObject): string {
  return `${kind} ${namespace} ${name} ${apiVersion.replace('/', ' ')}`
}

function markOf({ apiVersion, kind, namespace = '', name }: SetObject): string {
  return digestOfJson([apiVersion, kind, namespace, name]).slice('sha256:'.length, 'sha256:'.length + 10)
}
