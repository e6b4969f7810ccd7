/** Taints and tolerations: whether a taint rejects a cluster, and until when a toleration lasts. */
import { compact } from '../../core/compact.ts'
import { parseTime } from '../../core/time/time.ts'
import type { ClusterTaint, PlacementCluster, Toleration } from './types.ts'

/** The result of a cluster's taints with a Placement's tolerations. */
export interface TaintVerdict {
  readonly tolerated: boolean
  /** The taint that is not tolerated. */
  readonly by?: ClusterTaint
  /** Milliseconds since 1970 at which the first timed toleration ends. */
  readonly until?: number
  /** Number of PreferNoSelect taints that are not tolerated. */
  readonly disliked: number
}

/** The problem of the tolerations, or undefined. */
export function tolerationProblem(tolerations: readonly Toleration[]): string | undefined {
  for (const { key = '', operator, value = '' } of tolerations) {
    if (key === '' && operator !== 'Exists') return 'If the key is empty, operator must be Exists.'
    if (operator === 'Exists' && value !== '') return 'If the operator is Exists, the value should be empty.'
  }
  return undefined
}

/** Judges a cluster's taints. `incumbent`: the Placement already selects the cluster. */
export function judgeTaints(
  cluster: Pick<PlacementCluster, 'taints'>,
  tolerations: readonly Toleration[],
  at: { readonly now: number; readonly incumbent: boolean; readonly scheduler: 'native' | 'ocm' },
): TaintVerdict {
  let until: number | undefined
  let disliked = 0
  for (const taint of cluster.taints ?? []) {
    if (taint.effect === 'NoSelectIfNew' && at.incumbent) continue
    const toleration = firstToleration(taint, tolerations, at)
    if (taint.effect === 'PreferNoSelect') {
      if (!toleration) disliked++
      continue
    }
    if (!toleration) return { tolerated: false, by: taint, disliked }
    if (toleration.until !== undefined && (until === undefined || toleration.until < until)) until = toleration.until
  }
  return compact({ tolerated: true, disliked, until })
}

/** `key=value:Effect`, as kubectl writes a taint. */
export function describeTaint({ key, value, effect }: ClusterTaint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`
}

function firstToleration(
  taint: ClusterTaint,
  tolerations: readonly Toleration[],
  at: { readonly now: number; readonly scheduler: 'native' | 'ocm' },
): { readonly until?: number } | undefined {
  for (const toleration of tolerations) {
    if (!tolerates(taint, toleration)) continue
    if (toleration.tolerationSeconds === undefined) return {}
    const added = parseTime(taint.timeAdded ?? '')
    if (added === undefined) {
      // A taint without a time: its toleration never ends here, and has ended for Open Cluster Management.
      if (at.scheduler === 'native') return {}
      continue
    }
    const seconds = toleration.tolerationSeconds
    const until = added + (at.scheduler === 'native' ? seconds * 1000 : goDurationMs(seconds))
    if (at.now < until) return { until }
  }
  return undefined
}

/** Seconds as a Go duration in milliseconds: beyond 292 years the product overflows. */
function goDurationMs(seconds: number): number {
  if (Math.abs(seconds) <= 9_223_372_036) return seconds * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n)) / 1e6
}

/** Whether a toleration covers a taint, as Kubernetes matches them. */
export function tolerates(
  taint: { readonly key: string; readonly value?: string | undefined; readonly effect: string },
  {
    key = '',
    operator = '',
    value = '',
    effect = '',
  }: { readonly [field in 'key' | 'operator' | 'value' | 'effect']?: string | undefined },
): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '')
}
