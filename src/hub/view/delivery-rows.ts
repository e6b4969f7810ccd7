/** Rows about Deliveries among the BundleStates: after the rows of Bundles, with `delivery` set. */
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { deliveredTo, deliveryEntryId, deliveryEntryName, deliveryNameOf } from '../../kinds/native/delivery.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import { AT_ONCE, memoize, placedStateRows, stateRow, wantedBy } from './bundle-rows.ts'
import type { BundleFacts, Member, ViewReader } from './bundle-rows.ts'
import type { PositionedRow, RowRange, RowSource } from './row-source.ts'

/** The source of BundleStates: the rows of Bundles, then the rows of Deliveries. */
export function bundleStateRows(reads: ViewReader): RowSource {
  const placed = placedStateRows(reads)
  const delivered = deliveryRows(reads)
  return {
    get: (namespace, name) =>
      deliveryNameOf(name) === undefined ? placed.get(namespace, name) : delivered.get(namespace, name),
    async *rows(range) {
      const isAmongDeliveries = deliveryNameOf(range.after?.[1] ?? '') !== undefined
      const bundle = range.where.get('bundle')
      const isForBundles = range.where.get('delivery') === undefined && deliveryNameOf(bundle ?? '') === undefined
      if (!isAmongDeliveries && isForBundles) yield* placed.rows(range)
      if (bundle !== undefined && isForBundles) return
      const { after, ...whole } = range
      yield* delivered.rows(isAmongDeliveries && after ? { ...whole, after } : whole)
    },
  }
}

/** Rows about Deliveries alone. */
export function deliveryRows(reads: ViewReader): RowSource {
  return {
    async get(namespace, name) {
      // Names of Deliveries and of clusters may both have dots: the one split where both exist is meant.
      for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
        const delivery = await reads.delivery(namespace, deliveryNameOf(name.slice(0, dot)) ?? '')
        if (!delivery) continue
        const cluster = name.slice(dot + 1)
        const row = await stateRow(memoize(reads), factsOf(delivery)(cluster), memberOf(delivery, cluster))
        if (row) return row
      }
      return undefined
    },
    async *rows(range): AsyncIterable<PositionedRow> {
      const read = memoize(reads)
      const [afterNamespace = '', afterEntry = '', afterCluster = ''] = range.after ?? []
      for await (const delivery of selected(read, range)) {
        const { namespace = '', name } = delivery.metadata
        const isWanted = wantedBy(range.among, deliveryEntryId(delivery))
        const entry = deliveryEntryName(name)
        const isResumed = namespace === afterNamespace && entry === afterEntry
        const facts = factsOf(delivery)
        const members = membersOf(delivery, range).filter(
          ({ cluster }) => isWanted(cluster) && (!isResumed || compareText(cluster, afterCluster) > 0),
        )
        for (let first = 0; first < members.length; first += AT_ONCE) {
          const chunk = members.slice(first, first + AT_ONCE)
          const rows = await Promise.all(chunk.map((member) => stateRow(read, facts(member.cluster), member)))
          for (const [index, object] of rows.entries()) {
            if (object) yield { at: [namespace, entry, chunk[index]!.cluster], object }
          }
        }
      }
    },
  }
}

async function* selected(reads: ViewReader, { namespace, after, where, among }: RowRange): AsyncIterable<Delivery> {
  const only = where.get('delivery') ?? deliveryNameOf(where.get('bundle') ?? '')
  if (only !== undefined && namespace !== undefined) {
    const delivery = await reads.delivery(namespace, only)
    if (delivery) yield delivery
    return
  }
  const from = after && ([after[0] ?? '', deliveryNameOf(after[1] ?? '') ?? ''] as const)
  for await (const delivery of reads.deliveries(namespace, from)) {
    if (only !== undefined && delivery.metadata.name !== only) continue
    if (!among || among.clusters.size > 0 || among.bundle(deliveryEntryId(delivery))) yield delivery
  }
}

/** The clusters that the Delivery names, or loses, and one that was asked for by name. */
function membersOf(delivery: Delivery, { where }: RowRange): Member[] {
  const only = where.get('cluster')
  if (only !== undefined) return [memberOf(delivery, only)]
  const leaving = (delivery.status?.admissions ?? []).map(({ cluster }) => cluster)
  return [...new Set([...delivery.spec.clusters, ...leaving])]
    .sort(compareText)
    .map((cluster) => memberOf(delivery, cluster))
}

function memberOf({ metadata, spec }: Delivery, cluster: string): Member {
  return { cluster, selected: metadata.deletionTimestamp === undefined && spec.clusters.includes(cluster) }
}

function factsOf(delivery: Delivery): (cluster: string) => BundleFacts {
  const { metadata, status } = delivery
  const { name } = metadata
  const refused = findCondition(status?.conditions, 'Admitted')
  const admitted = (status?.admissions ?? []).filter(({ removal }) => !removal).map(({ cluster }) => cluster)
  const facts = compact({
    key: deliveryEntryId(delivery),
    name: deliveryEntryName(name),
    placement: '',
    delivery: name,
    removedBy: new Map(),
    rollout: status?.admissions
      ? {
          name,
          admitted: new Set(admitted),
          ...(refused?.status === 'False' ? { hold: refused } : {}),
        }
      : undefined,
  })
  return (cluster) => ({ ...facts, ...compact({ target: deliveredTo(delivery, cluster) }) })
}
