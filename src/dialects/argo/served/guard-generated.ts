/**
 * Stops a change of an ApplicationSet, of a repository or of labels that would add or drop many Applications. The
 * condition Held of the ApplicationSet has the token, because the ApplicationSet is the object that people wrote.
 */
import { compareText } from '../../../core/text/compare-text.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { parseTime } from '../../../core/time/time.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION } from '../../../kinds/native/placement.ts'
import { GROWTH_WINDOW_MS, growthTokenIn, judgeGrowth } from '../../../plan/placement/growth-guard.ts'
import { judgeShrink, shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'
import type { Application, ApplicationSet } from '../kinds.ts'

/** A change that waits until a person releases it. */
export interface HeldGeneration {
  readonly reason: 'DropHeld' | 'GrowthHeld'
  readonly message: string
}

/** The present Applications of a set, and what a guard must know of them. */
export interface GuardedSet {
  readonly set: ApplicationSet
  readonly present: readonly Application[]
  /** The Cluster of the destination; undefined if it does not exist. */
  readonly clusterOf: (application: Application) => Cluster | undefined
  readonly now: number
}

/** Whether a Cluster joined after the set was created, within the last hour: such a Cluster is no change of the set. */
function isJoining({ metadata }: Cluster, { set, now }: GuardedSet): boolean {
  const joined = createdAt(metadata)
  return joined > createdAt(set.metadata) && now - joined < GROWTH_WINDOW_MS
}

/**
 * Judges the Applications that would be new. Each is a bundle on a cluster. Labels change cluster by cluster, so that
 * the Applications of the last hour count, too, unless the set is new or a person has released its growth.
 */
export function judgeNewApplications(
  newcomers: readonly Application[],
  about: GuardedSet,
): (HeldGeneration & { readonly names: ReadonlySet<string> }) | undefined {
  const { set, present, clusterOf, now } = about
  const counts = (application: Application): boolean => {
    const cluster = clusterOf(application)
    return cluster === undefined || !isJoining(cluster, about)
  }
  const added = newcomers.filter(counts)
  if (added.length === 0) return undefined
  const release = set.metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  const { generation = 1 } = set.metadata
  const isRecent = ({ metadata }: KubeObject) => now - createdAt(metadata) < GROWTH_WINDOW_MS
  const isSeen = growthTokenIn(release ?? '')?.startsWith(`g${generation}-`) === true
  const recent = isSeen || isRecent(set) ? 0 : present.filter((one) => isRecent(one) && counts(one)).length
  const verdict = judgeGrowth({
    added: added.length,
    recent,
    of: present.length - recent,
    generation,
    // The names with those that are written already: a restart in the middle is no other change.
    change: [...present.filter(counts), ...added].map(({ metadata }) => metadata.name).sort(compareText),
    release,
  })
  if (verdict.kind !== 'Held') return undefined
  const names = new Set(added.map(({ metadata }) => metadata.name))
  return { reason: 'GrowthHeld', message: `${verdict.message} ${commandOf(set, verdict.token)}`, names }
}

/** Judges the Applications that are no longer generated. Those of a Cluster that is gone are not counted. */
export function judgeLeftApplications(
  left: readonly Application[],
  { held, isEmpty, ...about }: GuardedSet & { readonly held: string | undefined; readonly isEmpty: boolean },
): HeldGeneration | undefined {
  const { set, present, clusterOf } = about
  const isThere = (application: Application) => {
    const cluster = clusterOf(application)
    return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined && !cluster.spec.decommission
  }
  const names = left.filter(isThere).map(({ metadata }) => metadata.name)
  const verdict = judgeShrink({
    noun: 'bundles',
    dropped: names,
    of: present.filter(isThere).length,
    always: isEmpty ? 'The generators make no Application.' : undefined,
    generation: set.metadata.generation ?? 1,
    release: set.metadata.annotations?.[ALLOW_DROP_ANNOTATION],
    held: shrinkTokenIn(held ?? ''),
  })
  if (verdict.kind !== 'Held') return undefined
  const message = `${verdict.message} No longer generated: ${nameSome(names)}.`
  return { reason: 'DropHeld', message: `${message} ${commandOf(set, verdict.token)}` }
}

function commandOf({ metadata }: ApplicationSet, token: string): string {
  const { name, namespace = '' } = metadata
  return `Let it through with: flotilla guard release applicationset ${name} -n ${namespace} (token ${token})`
}

function createdAt({ creationTimestamp }: KubeObject['metadata']): number {
  return parseTime(creationTimestamp ?? '') ?? 0
}
