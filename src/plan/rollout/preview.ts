/** The plan shown before it starts: who is in which ring, who is in none, who cannot be reached, and what ring 1 does not represent. */
import { compareText } from '../../core/text/compare-text.ts'
import type { Labels } from '../../core/text/label-selector.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'
import { concurrencyOf } from './concurrency.ts'
import type { BundleHold } from '../windows/bundle-hold.ts'
import { ringOf, ringStates } from './rings.ts'
import type { RingSpec } from './rings.ts'

/** What a preview looks at in a cluster. */
export interface PreviewCluster {
  readonly name: string
  readonly labels: Labels
  readonly groups: readonly string[]
  readonly isOnline: boolean
  /** Held, frozen or outside its window: it waits. */
  readonly hold?: BundleHold
  /** What tells hardware, network and region apart, by name of the claim or label. */
  readonly traits: Labels
}

/** One ring of the preview. */
export interface PreviewRing {
  readonly name: string
  readonly members: readonly string[]
  readonly offline: readonly string[]
  readonly frozen: readonly string[]
  /** Why each of them waits, and until when where that is known. */
  readonly holds: readonly { readonly cluster: string; readonly message: string; readonly until?: string }[]
  /** How many moves of `concurrency` clusters it takes. */
  readonly steps: number
  /** What its members fetch at most. */
  readonly bytes?: number
  readonly soakMs: number
  /** What else it asks for: gates before it opens, approvals, gates before it is through. */
  readonly asks: readonly string[]
}

/** What would happen. */
export interface RolloutPreview {
  readonly rings: readonly PreviewRing[]
  /** Clusters in no ring: they would never be admitted. */
  readonly unringed: readonly string[]
  readonly warnings: readonly string[]
  /** At least so long, with `perClusterMs` for each step. */
  readonly expectedMs: number
  /** At most so many: nobody fetches what is there already, and on the way everything is compressed. Absent where it is not known. */
  readonly expectedBytes?: number
}

/** What one cluster costs. */
export interface PreviewCost {
  readonly perClusterMs: number
  /** All of the content; absent where it is not known. */
  readonly perClusterBytes?: number | undefined
}

/** Works out a preview. */
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
    return {
      name: ring.name,
      members: members.map(({ name }) => name),
      offline: members.filter(({ isOnline }) => !isOnline).map(({ name }) => name),
      frozen: members.filter(({ hold }) => hold).map(({ name }) => name),
      holds: members.flatMap(({ name, hold }) =>
        hold
          ? [
              {
                cluster: name,
                message: hold.message,
                ...(hold.until === undefined ? {} : { until: formatTime(hold.until) }),
              },
            ]
          : [],
      ),
      steps: Math.ceil(moving / limit),
      ...(perClusterBytes === undefined ? {} : { bytes: perClusterBytes * members.length }),
      soakMs: ring.soakMs ?? 0,
      asks: asksOf(ring),
    }
  })
  return {
    rings: shown,
    unringed,
    warnings: [...emptyRings(shown), ...unrepresented(byRing)],
    expectedMs: shown.reduce((sum, { steps, soakMs }) => sum + steps * perClusterMs + soakMs, 0),
    ...(perClusterBytes === undefined ? {} : { expectedBytes: perClusterBytes * (clusters.length - unringed.length) }),
  }
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
      members.length === 0 ? `ring ${name} has no members` : `nobody in ring ${name} is connected`,
    )
}

/** Traits that later rings have and ring 1 does not: what it proves does not hold for those clusters. */
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
    warnings.push(
      `ring 1 has no cluster with ${key} ${nameSome(distinct)}; ${missing.length} clusters of later rings have`,
    )
  }
  return warnings
}
