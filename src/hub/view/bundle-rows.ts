/**
 * Rows about bundles: BundleState per (bundle, cluster), BundleCount per bundle. Each row reads what it needs and no
 * more.
 */
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { apiVersionOf, keyOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import { BundleCount } from '../../kinds/views/bundle-count.ts'
import { BundleState } from '../../kinds/views/bundle-state.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { completeSelection } from '../../plan/placement/decisions/complete-pages.ts'
import { bundleHold } from '../../plan/windows/bundle-hold.ts'
import type { BundleHold } from '../../plan/windows/bundle-hold.ts'
import { isForBundle } from '../../plan/windows/window-rules.ts'
import type { CompiledWindow } from '../../plan/windows/window-rules.ts'
import { spanAt } from '../../plan/windows/window.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { isProjectReason } from '../../plan/projects/project-of.ts'
import { rowClusterOf } from '../../plan/fleet/row-cluster.ts'
import { countsOf, rowOf } from '../../plan/fleet/view-rows.ts'
import type { RowBundle, RowCluster } from '../../plan/fleet/view-rows.ts'
import { clusterInputsOf, contentFor } from '../../plan/release/variants.ts'
import { revisionFields } from './revision-fields.ts'
import type { RowRings } from './revision-fields.ts'
import type { RowFilter, PositionedRow, RowRange, RowSource } from './row-source.ts'

/** What rows are made from, in either home. */
export interface ViewReader {
  bundle(namespace: string, name: string): Promise<Bundle | undefined>
  /** In order of namespace and name, from an address on (with it). */
  bundles(namespace: string | undefined, from?: readonly [string, string]): AsyncIterable<Bundle>
  delivery(namespace: string, name: string): Promise<Delivery | undefined>
  /** In order of namespace and name, from an address on (with it). */
  deliveries(namespace: string | undefined, from?: readonly [string, string]): AsyncIterable<Delivery>
  placement(namespace: string, name: string): Promise<Placement | undefined>
  decisions(namespace: string): Promise<readonly PlacementDecision[]>
  release(namespace: string, name: string): Promise<Release | undefined>
  /** Of one namespace; of all with an empty name. */
  releases(namespace: string): Promise<readonly Release[]>
  rollouts(namespace: string): Promise<readonly Rollout[]>
  cluster(name: string): Promise<Cluster | undefined>
  report(name: string): Promise<ClusterReport | undefined>
  assignment(name: string): Promise<Assignment | undefined>
  /** Windows and freezes of all namespaces and of a namespace. */
  windows(namespace: string): Promise<readonly CompiledWindow[]>
  /** Milliseconds since 1970. */
  now(): number
}

/** Rows that are read together, so that a far home is asked once for many. */
export const AT_ONCE = 25

/** The rows of Bundles among the BundleStates. */
export function placedStateRows(reads: ViewReader): RowSource {
  return {
    async get(namespace, name) {
      // Names of bundles and of clusters may both have dots: the one split where both exist is meant.
      for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
        const bundle = await reads.bundle(namespace, name.slice(0, dot))
        if (!bundle) continue
        const read = memoize(reads)
        const selected = await selectedBy(read, bundle)
        const row = await stateRow(read, await factsOf(read, bundle), {
          cluster: name.slice(dot + 1),
          selected: selected?.includes(name.slice(dot + 1)),
        })
        if (row) return row
      }
      return undefined
    },
    async *rows(range) {
      const read = memoize(reads)
      const [afterNamespace = '', afterBundle = '', afterCluster = ''] = range.after ?? []
      for await (const bundle of bundlesOf(read, range)) {
        const { namespace = '', name } = bundle.metadata
        const isWanted = wantedBy(range.among, keyOf(bundle))
        const facts = await factsOf(read, bundle)
        const isResumed = namespace === afterNamespace && name === afterBundle
        const members = (await membersOf(read, facts, { bundle, where: range.where })).filter(
          ({ cluster }) => isWanted(cluster) && (!isResumed || compareText(cluster, afterCluster) > 0),
        )
        for (let first = 0; first < members.length; first += AT_ONCE) {
          const chunk = members.slice(first, first + AT_ONCE)
          const rows = await Promise.all(chunk.map((member) => stateRow(read, facts, member)))
          for (const [index, object] of rows.entries()) {
            if (object) yield { at: [namespace, name, chunk[index]!.cluster], object }
          }
        }
      }
    },
  }
}

/** The source of BundleCounts. */
export function bundleCountRows(reads: ViewReader): RowSource {
  const countRow = async (read: ViewReader, bundle: Bundle): Promise<UnknownObject> => {
    const facts = await factsOf(read, bundle)
    const { namespace = '', name } = bundle.metadata
    return {
      apiVersion: apiVersionOf(BundleCount),
      kind: BundleCount.kind,
      metadata: { name, namespace, labels: { 'flotilla.dev/bundle': name } },
      bundle: name,
      ...compact({ rollout: facts.rollout?.name }),
      ...countsOf(facts),
      ...compact({ target: facts.target?.generation }),
      message: facts.rollout?.hold?.message ?? 'Nothing moves yet.',
    }
  }
  return {
    async get(namespace, name) {
      const bundle = await reads.bundle(namespace, name)
      return bundle && (await countRow(reads, bundle))
    },
    async *rows(range): AsyncIterable<PositionedRow> {
      const read = memoize(reads)
      const [afterNamespace = '', afterBundle = ''] = range.after ?? []
      for await (const bundle of bundlesOf(read, range)) {
        const { namespace = '', name } = bundle.metadata
        if (namespace === afterNamespace && name === afterBundle) continue
        if (range.among && !range.among.bundle(keyOf(bundle))) continue
        yield { at: [namespace, name], object: await countRow(read, bundle) }
      }
    },
  }
}

/** Whether the row of a bundle's cluster is wanted. */
export function wantedBy(among: RowFilter | undefined, bundle: string): (cluster: string) => boolean {
  if (!among || among.bundle(bundle)) return () => true
  return (cluster) => among.clusters.has(cluster)
}

async function* bundlesOf(reads: ViewReader, range: RowRange): AsyncIterable<Bundle> {
  const { among } = range
  for await (const bundle of selectedBundles(reads, range)) {
    if (!among || among.clusters.size > 0 || among.bundle(keyOf(bundle))) yield bundle
  }
}

async function* selectedBundles(reads: ViewReader, { namespace, after, where }: RowRange): AsyncIterable<Bundle> {
  const only = where.get('bundle')
  if (only !== undefined && namespace !== undefined) {
    const bundle = await reads.bundle(namespace, only)
    if (bundle) yield bundle
    return
  }
  const from = after && ([after[0] ?? '', after[1] ?? ''] as const)
  for await (const bundle of reads.bundles(namespace, from)) {
    if (only === undefined || bundle.metadata.name === only) yield bundle
  }
}

export interface Member {
  readonly cluster: string
  readonly selected: boolean | undefined
}

/**
 * The clusters a bundle has rows for: the selected clusters, clusters it is being removed from, and a cluster that was
 * asked for by name also when it is neither.
 */
async function membersOf(
  reads: ViewReader,
  { removedBy }: BundleFacts,
  of: { readonly bundle: Bundle; readonly where: RowRange['where'] },
): Promise<readonly Member[]> {
  const { bundle, where } = of
  const selected = await selectedBy(reads, bundle)
  const only = where.get('cluster')
  if (only !== undefined) return [{ cluster: only, selected: selected?.includes(only) }]
  const known = new Set(selected)
  const leaving = selected ? [...removedBy.keys()].filter((cluster) => !known.has(cluster)) : []
  return [...known, ...leaving]
    .sort(compareText)
    .map((cluster) => ({ cluster, selected: selected && known.has(cluster) }))
}

async function selectedBy(reads: ViewReader, bundle: Bundle): Promise<readonly string[] | undefined> {
  const { namespace = '' } = bundle.metadata
  const placement = await reads.placement(namespace, bundle.spec.placement)
  if (!placement) return undefined
  const pages = await reads.decisions(namespace)
  return completeSelection(
    placement.metadata.generation ?? 0,
    pages.map(({ spec }) => spec).filter((page) => page.placement === bundle.spec.placement),
  )
}

export interface BundleFacts extends RowBundle {
  /** Rollouts that remove it, by the clusters they are not through with. */
  readonly removedBy: ReadonlyMap<string, string>
  /** The newest Release. */
  readonly newest?: Release
  /** Rings of the Rollout of the newest Release, and their recorded boundaries. */
  readonly rings?: RowRings
  /** The bundle's part of its newest Release, where clusters differ. */
  readonly released?: Release['spec']['bundles'][number]
}

async function factsOf(reads: ViewReader, bundle: Bundle): Promise<BundleFacts> {
  const { namespace = '', name } = bundle.metadata
  const { release, revision } = bundle.status ?? {}
  const found = release === undefined ? undefined : await reads.release(namespace, release)
  const released = found?.spec.bundles.find((one) => one.name === name)
  const rollouts = release === undefined ? [] : await reads.rollouts(namespace)
  const rollout = rollouts.find(({ spec }) => spec.release === release && !spec.removal)
  const ready = findCondition(rollout?.status?.conditions, 'Ready')
  const admissions = (rollout?.status?.admissions ?? []).filter((admission) => admission.bundle === name)
  const counts = rollout?.status?.bundles?.find((one) => one.name === name) ?? rollout?.status?.counts
  const refused = refusalIn(bundle) ?? refusalIn(await reads.placement(namespace, bundle.spec.placement))
  return compact({
    key: keyOf(bundle),
    name,
    placement: bundle.spec.placement,
    removedBy: removersOf(rollouts, name),
    refused,
    target: revision,
    newest: found,
    rings: rollout ? { specs: rollout.spec.rings, states: rollout.status?.rings ?? [] } : undefined,
    released: released?.variants ? released : undefined,
    rollout: rollout
      ? {
          name: rollout.metadata.name,
          admitted: new Set(admissions.map(({ cluster }) => cluster)),
          ...(ready ? { hold: { reason: ready.reason, message: ready.message } } : {}),
          ...(counts ? { counts } : {}),
          ...(rollout.spec.exceptions ? { exceptions: rollout.spec.exceptions } : {}),
        }
      : undefined,
  })
}

/** What the Ready condition says when a Project refuses the object, or when there is no Project. */
function refusalIn(object: Bundle | Placement | undefined): string | undefined {
  const ready = findCondition(object?.status?.conditions, 'Ready')
  return ready?.status === 'False' && isProjectReason(ready.reason) ? ready.message : undefined
}

function removersOf(rollouts: readonly Rollout[], bundle: string): ReadonlyMap<string, string> {
  const removing = rollouts.filter(({ spec }) => spec.removal?.bundle === bundle && !spec.aborted)
  return new Map(
    removing.flatMap(({ metadata, spec, status }) => {
      const settled = new Set(status?.settled)
      return spec
        .removal!.clusters.filter((cluster) => !settled.has(cluster))
        .map((cluster): [string, string] => [cluster, metadata.name])
    }),
  )
}

/** The row of a bundle or Delivery on a cluster; undefined when there is no such Cluster. */
export async function stateRow(
  reads: ViewReader,
  bundle: BundleFacts,
  member: Member,
): Promise<UnknownObject | undefined> {
  const [namespace = ''] = bundle.key.split('/')
  const [cluster, report, assignment, windows] = await Promise.all([
    reads.cluster(member.cluster),
    reads.report(member.cluster),
    reads.assignment(member.cluster),
    reads.windows(namespace),
  ])
  if (!cluster) return undefined
  const frozen: BundleHold | undefined =
    bundle.refused === undefined ? undefined : { for: 'freeze', badge: 'Frozen', message: bundle.refused }
  const hold = frozen ?? holdOf(bundle, cluster, windows, reads.now())
  const removedBy = bundle.removedBy.get(member.cluster)
  const facts: RowCluster = {
    ...rowClusterOf(bundle.key, { cluster, report, assignment }),
    ...compact({
      removedBy,
      hold,
      content: bundle.released ? contentFor(bundle.released, clusterInputsOf(cluster)) : undefined,
    }),
  }
  const row = rowOf(bundle, facts, member.selected)
  return {
    apiVersion: apiVersionOf(BundleState),
    kind: BundleState.kind,
    metadata: {
      name: `${row.bundle}.${row.cluster}`,
      namespace,
      labels: {
        ...(row.delivery === undefined
          ? { 'flotilla.dev/bundle': row.bundle }
          : { 'flotilla.dev/delivery': row.delivery }),
        'flotilla.dev/cluster': row.cluster,
        ...compact({ 'flotilla.dev/state': row.state }),
      },
    },
    ...row,
    ...(await revisionFields(reads, bundle, cluster, facts)),
  }
}

function holdOf(
  { key, target, rollout }: BundleFacts,
  cluster: Cluster,
  windows: readonly CompiledWindow[],
  now: number,
): BundleHold | undefined {
  const entry = {
    bundle: key,
    generation: target?.generation ?? 0,
    release: rollout?.name,
    exceptions: rollout?.exceptions,
  }
  const mine = windows.filter((window) => isForBundle(window, key))
  return bundleHold(cluster, mine, entry, { now, look: spanAt })
}

/** Remembers for one answer what many of its rows need. */
export function memoize(reads: ViewReader): ViewReader {
  const once = <T>(read: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
    const known = new Map<string, Promise<T>>()
    return (key) => {
      const found = known.get(key) ?? read(key)
      known.set(key, found)
      return found
    }
  }
  const placement = once((key) => {
    const [namespace = '', name = ''] = key.split('/')
    return reads.placement(namespace, name)
  })
  const release = once((key) => {
    const [namespace = '', name = ''] = key.split('/')
    return reads.release(namespace, name)
  })
  return {
    ...reads,
    placement: (namespace, name) => placement(`${namespace}/${name}`),
    release: (namespace, name) => release(`${namespace}/${name}`),
    decisions: once((namespace) => reads.decisions(namespace)),
    releases: once((namespace) => reads.releases(namespace)),
    rollouts: once((namespace) => reads.rollouts(namespace)),
    cluster: once((name) => reads.cluster(name)),
    report: once((name) => reads.report(name)),
    assignment: once((name) => reads.assignment(name)),
    windows: once((namespace) => reads.windows(namespace)),
  }
}
