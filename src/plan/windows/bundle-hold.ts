/** Why nothing new may begin for a bundle on a cluster: a hold of the cluster, a freeze, or a window that is closed. */
import { formatTime, parseTime } from '../../core/time/time.ts'
import { clusterHoldSentence, holdOfCluster } from './cluster-hold.ts'
import type { HoldableCluster } from './cluster-hold.ts'
import { decideWindows } from './window.ts'
import type { spanAt } from './window.ts'
import { isForCluster, ruleOf } from './window-rules.ts'
import type { CompiledWindow, WindowEntry } from './window-rules.ts'

/** Marks of what is held, beside its state. */
const HOLD_BADGES = ['Frozen', 'Held', 'Cordoned'] as const

type HoldBadge = (typeof HOLD_BADGES)[number]

/** What holds a pair of bundle and cluster. */
export interface BundleHold {
  readonly for: 'window' | 'freeze'
  readonly badge: HoldBadge
  /** Why, since when, and what would release it. */
  readonly message: string
  /** Milliseconds since 1970. */
  readonly since?: number
  /** Milliseconds since 1970 at which to look again; absent: only a person can tell. */
  readonly until?: number
}

/** A cluster as holds see it. */
export interface HeldCluster extends HoldableCluster {
  readonly spec: HoldableCluster['spec'] & { readonly timeZone?: string | undefined }
}

/** What holds an entry on a cluster now; `windows` are those for its bundle. */
export function bundleHold(
  cluster: HeldCluster,
  windows: readonly CompiledWindow[],
  entry: WindowEntry,
  at: { readonly now: number; readonly look: typeof spanAt },
): BundleHold | undefined {
  const held = holdOfCluster(cluster)
  if (held) {
    const since = held.since === undefined ? undefined : parseTime(held.since)
    const { badge } = held
    return { for: 'freeze', badge, message: clusterHoldSentence(held), ...(since === undefined ? {} : { since }) }
  }
  const { name, labels = {} } = cluster.metadata
  const facts = { name, labels, timeZone: cluster.spec.timeZone }
  const rules = windows.filter((window) => isForCluster(window, facts)).map((window) => ruleOf(window, facts, [entry]))
  const decision = decideWindows(rules, entry, at.now, at.look)
  if (decision.kind === 'Open') return undefined
  const { by, sinceMs, againMs } = decision
  const time = againMs === undefined ? 'an edit of it' : `time, ${formatTime(againMs)}`
  const message = `${decision.message.replace(/^./, (first) => first.toUpperCase()).replace(/\.?$/, '.')} Released by ${time}, or by an exception (flotilla rollout except).`
  return {
    for: by === 'window' ? 'window' : 'freeze',
    badge: 'Frozen',
    message,
    ...(sinceMs === undefined ? {} : { since: sinceMs }),
    ...(againMs === undefined ? {} : { until: againMs }),
  }
}
