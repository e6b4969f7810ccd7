/** Holds of a bundle on a cluster: a hold or cordon of the cluster, a freeze, or a closed maintenance window. */
import { compact } from '../../core/compact.ts'
import { parseTime } from '../../core/time/time.ts'
import { clusterHoldSentence, holdOfCluster } from './cluster-hold.ts'
import type { HoldableCluster } from './cluster-hold.ts'
import { decideWindows } from './window.ts'
import type { spanAt } from './window.ts'
import { isForCluster, ruleOf } from './window-rules.ts'
import type { CompiledWindow, WindowEntry } from './window-rules.ts'

/** Badges beside the state. */
const HOLD_BADGES = ['Frozen', 'Held', 'Cordoned'] as const

type HoldBadge = (typeof HOLD_BADGES)[number]

/** The hold of a bundle on a cluster. */
export interface BundleHold {
  readonly for: 'window' | 'freeze'
  readonly badge: HoldBadge
  /** Complete sentences: the cause, and what ends the hold. */
  readonly message: string
  /** Milliseconds since 1970. */
  readonly since?: number
  /** End of the hold in milliseconds since 1970; absent: only a person can end it. */
  readonly until?: number
}

/** A Cluster as holds read it. */
export interface HeldCluster extends HoldableCluster {
  readonly spec: HoldableCluster['spec'] & { readonly timeZone?: string | undefined }
}

/** The hold of an entry on a cluster now; `windows` are the windows for its bundle. */
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
    return compact({ for: 'freeze', badge, message: clusterHoldSentence(held), since })
  }
  const { name, labels = {} } = cluster.metadata
  const facts = { name, labels, timeZone: cluster.spec.timeZone }
  const rules = windows.filter((window) => isForCluster(window, facts)).map((window) => ruleOf(window, facts, [entry]))
  const decision = decideWindows(rules, entry, at.now, at.look)
  if (decision.kind === 'Open') return undefined
  const { by, sinceMs, againMs } = decision
  const cause = decision.message
  const message = `${cause.charAt(0).toUpperCase()}${cause.slice(1)}${cause.endsWith('.') ? '' : '.'} To start earlier, add an exception with \`flotilla rollout except\`.`
  return compact({
    for: by === 'window' ? 'window' : 'freeze',
    badge: 'Frozen',
    message,
    since: sinceMs,
    until: againMs,
  })
}
