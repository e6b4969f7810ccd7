/** Windows and freezes, compiled once per change, and the clusters that a change of a window may concern. */
import type { Change } from '../../client/cache.ts'
import { jsonEqual } from '../../core/json.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { Window } from '../../kinds/native/window.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { bundleHold } from '../../plan/windows/bundle-hold.ts'
import type { BundleHold } from '../../plan/windows/bundle-hold.ts'
import type { ReleaseBundle } from '../../plan/rollout/bundle-on-cluster.ts'
import { compileWindow, isForBundle, isForCluster, rememberSpans } from '../../plan/windows/window-rules.ts'
import type { CompiledWindow, WindowEntry } from '../../plan/windows/window-rules.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import type { Caches } from './caches.ts'

type WindowCaches = Pick<Caches, 'windows' | 'clusterWindows' | 'clusters'>

/** All windows and freezes in a fixed order; compiled again only after a change. */
export function windowsInForce(caches: WindowCaches): () => readonly CompiledWindow[] {
  let known: readonly CompiledWindow[] | undefined
  const forget = () => void (known = undefined)
  caches.clusterWindows.onChange(forget)
  caches.windows.onChange(forget)
  return () =>
    (known ??= [...caches.clusterWindows.lister.list(), ...caches.windows.lister.list()]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(compileWindow)
      .sort((a, b) => compareText(a.name, b.name)))
}

/** The holds of Bundles on clusters at one moment. */
export interface WindowHolds {
  of(target: ReleaseBundle, cluster: string): BundleHold | undefined
  /** Milliseconds since 1970 at which time alone may change the first of the answers so far. */
  until(): number | undefined
}

/** The holds of a Rollout's Bundles on clusters at one moment. */
export function evaluateWindowHolds(
  caches: WindowCaches,
  windows: readonly CompiledWindow[],
  { metadata, spec }: Rollout,
  now: number,
): WindowHolds {
  const remembered = rememberSpans()
  const forBundle = new Map<string, readonly CompiledWindow[]>()
  let until: number | undefined
  const look: typeof remembered = (span, zone, nowMs) => {
    const state = remembered(span, zone, nowMs)
    const next = state.isIn ? state.untilMs : state.nextMs
    if (next !== undefined) until = Math.min(until ?? next, next)
    return state
  }
  return {
    of: (target, name) => {
      const cluster = caches.clusters.lister.get(name)
      if (!cluster) return undefined
      const bundle = `${metadata.namespace ?? ''}/${target.name}`
      const mine = forBundle.get(bundle) ?? windows.filter((window) => isForBundle(window, bundle))
      forBundle.set(bundle, mine)
      const entry = { bundle, generation: target.generation, release: spec.release, exceptions: spec.exceptions }
      return bundleHold(cluster, mine, entry, { now, look })
    },
    until: () => until,
  }
}

/** The clusters that a change of a window may concern: the clusters it selects before and after the change. */
export function clustersOfWindow(
  caches: Pick<Caches, 'clusters'>,
  { before, after }: Change<Window> | Change<ClusterWindow>,
): string[] {
  const isSame =
    before &&
    after &&
    jsonEqual(before.spec, after.spec) &&
    !before.metadata.deletionTimestamp === !after.metadata.deletionTimestamp
  if (isSame) return []
  const names = new Set<string>()
  for (const object of [before, after]) {
    if (!object) continue
    const window = compileWindow(object)
    for (const { metadata } of candidates(caches, window)) {
      if (isForCluster(window, { name: metadata.name, labels: metadata.labels ?? {} })) names.add(metadata.name)
    }
  }
  return [...names]
}

function candidates(
  { clusters }: Pick<Caches, 'clusters'>,
  { clusters: named, requirements }: CompiledWindow,
): readonly Cluster[] {
  if (named) return [...named].flatMap((name) => clusters.lister.get(name) ?? [])
  const wanted = requirements.find(({ operator, values = [] }) => operator === 'In' && values.length > 0)
  if (!wanted) return clusters.lister.list()
  return wanted.values!.flatMap((value) => clusters.lister.by('label', `${wanted.key}=${value}`))
}

/** The fields of an entry that the exceptions of windows read, from the Rollout that admitted the entry. */
export function windowEntryOf(caches: Pick<Caches, 'rollouts'>, entry: AssembledEntry): WindowEntry {
  const { bundle, generation } = entry
  const rollout = caches.rollouts.lister.get(entry.rollout)
  return rollout
    ? { bundle, generation, release: rollout.spec.release, exceptions: rollout.spec.exceptions }
    : { bundle, generation }
}
