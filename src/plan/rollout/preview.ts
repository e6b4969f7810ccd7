/**
 * A rollout before it starts: the members of each ring, unreachable clusters, and traits that ring 1 does not
 * represent.
 */
import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { Labels } from '../../core/text/label-selector.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'
import { concurrencyOf } from './concurrency.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import { ringOf, ringStates } from './rings.ts'
import type { RingSpec } from './rings.ts'

/** A cluster as a preview reads it. */
export interface PreviewCluster {
  readonly name: string
  readonly labels: Labels
  readonly groups: readonly string[]
  readonly isOnline: boolean
  /** Present when the cluster is on hold, frozen or outside its window. */
  readonly hold?: BundleHold
  /** Values that describe hardware, network and region, by name of the claim or label. */
  readonly traits: Labels
}

/** A ring of the preview. */
export interface PreviewRing {
  readonly name: string
  readonly members: readonly string[]
  readonly offline: readonly string[]
  readonly frozen: readonly string[]
  /** Why each frozen cluster waits, and until when where the time is known. */
  readonly holds: readonly { readonly cluster: string; readonly message: string; readonly until?: string }[]
  /** Number of steps of `concurrency` clusters each. */
  readonly steps: number
  /** Maximum number of bytes that the members fetch. */
  readonly bytes?: number
  readonly soakMs: number
  /** Opening gates, approvals and exit gates of the ring. */
  readonly asks: readonly string[]
}

/** The result of a preview. */
export interface RolloutPreview {
  readonly rings: readonly PreviewRing[]
  /** Clusters in no ring: they would never be admitted. */
  readonly unringed: readonly string[]
  readonly warnings: readonly string[]
  /** Minimum duration, with `perClusterMs` for each step. */
  readonly expectedMs: number
  /** Maximum number of bytes: agents fetch only missing content, compressed. Absent where the size is not known. */
  readonly expectedBytes?: number
}

/** The cost of a cluster. */
export interface PreviewCost {
  readonly perClusterMs: number
  /** Size of the whole content; absent where it is not known. */
  readonly perClusterBytes?: number | undefined
}

export function previewRollout(
  rings: readonly RingSpec[],
  clusters: readonly PreviewCluster[],
  { perClusterMs, perClusterBytes }: PreviewCost,
): RolloutPreview {
  const states = ringStates(rings, [], clusters)
  const byRing = rings.map((): PreviewCluster[] => [])
  const unringed: string[] = []
  for (const cluster of [...clusters].sort((a, b) => compareText(a.name, b.name))) {
    const at = ringOf(rings, states, cluster)
    if (at < 0) unringed.push(cluster.name)
    else byRing[at]!.push(cluster)
  }
  const shown = rings.map((ring, i): PreviewRing => {
    const members = byRing[i]!
    const moving = members.filter(({ isOnline, hold }) => isOnline && !hold).length
    const limit = Math.max(1, concurrencyOf(ring.concurrency, members.length))
    return compact({
      name: ring.name,
      members: members.map(({ name }) => name),
      offline: members.filter(({ isOnline }) => !isOnline).map(({ name }) => name),
      frozen: members.filter(({ hold }) => hold).map(({ name }) => name),
      holds: members.flatMap(({ name, hold }) =>
        hold
          ? [
              compact({
                cluster: name,
                message: hold.message,
                until: hold.until === undefined ? undefined : formatTime(hold.until),
              }),
            ]
          : [],
      ),
      steps: Math.ceil(moving / limit),
      bytes: perClusterBytes === undefined ? undefined : perClusterBytes * members.length,
      soakMs: ring.soakMs ?? 0,
      asks: asksOf(ring),
    })
  })
  return compact({
    rings: shown,
    unringed,
    warnings: [...emptyRings(shown), ...unrepresented(byRing)],
    expectedMs: shown.reduce((sum, { steps, soakMs }) => sum + steps * perClusterMs + soakMs, 0),
    expectedBytes: perClusterBytes === undefined ? undefined : perClusterBytes * (clusters.length - unringed.length),
  })
}

function asksOf({ approvals, gates = [] }: RingSpec): string[] {
  const named = (when: 'Open' | 'Pass') => gates.filter((gate) => gate.when === when).map(({ name }) => `gate ${name}`)
  const people = approvals ? [`approval${approvals.count > 1 ? ` of ${approvals.count}` : ''}`] : []
  return [...named('Open'), ...people, ...named('Pass')]
}

function emptyRings(rings: readonly PreviewRing[]): string[] {
  return rings
    .filter(({ members, offline }) => members.length === 0 || members.length === offline.length)
    .map(({ name, members }) =>
      members.length === 0 ? `ring ${name} has no members` : `no cluster of ring ${name} is connected`,
    )
}

/** Traits that only later rings have: a success of ring 1 proves nothing for clusters with these traits. */
function unrepresented(byRing: readonly (readonly PreviewCluster[])[]): string[] {
  const [first = [], ...later] = byRing
  if (later.length === 0 || first.length === 0) return []
  const warnings: string[] = []
  const keys = new Set(byRing.flat().flatMap(({ traits }) => Object.keys(traits)))
  for (const key of [...keys].sort(compareText)) {
    const valuesOf = (clusters: readonly PreviewCluster[]) =>
      clusters.flatMap(({ traits }) => (Object.hasOwn(traits, key) ? [traits[key]!] : []))
    const proven = new Set(valuesOf(first))
    const missing = valuesOf(later.flat()).filter((value) => !proven.has(value))
    const distinct = [...new Set(missing)].sort(compareText)
    if (distinct.length === 0) continue
    const [clusters, verb] = [plural(missing.length, 'cluster'), missing.length === 1 ? 'has' : 'have']
    warnings.push(`ring 1 has no cluster with ${key} ${nameSome(distinct)}; ${clusters} of later rings ${verb}`)
  }
  return warnings
}
