/** The state of a Bundle in the words of a Kustomization. */
import { findCondition } from '../../../core/conditions.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'

/** Counts of the newest Rollout of a Bundle. */
export interface RolloutCounts extends Readonly<
  Record<'total' | 'ready' | 'progressing' | 'pending' | 'failed' | 'offline', number>
> {
  readonly states?: Readonly<Record<string, number>> | undefined
}

/** Condition Ready of a Kustomization. */
export interface ReadyState {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** What decides the condition. */
export interface KustomizationFacts {
  readonly bundle: Bundle | undefined
  readonly counts: RolloutCounts | undefined
  /** The newest revision that was built, in Flux's form. */
  readonly revision: string
  /** The revision of the source. */
  readonly newest: string
  /** The failure of a cluster, in its own words. */
  readonly failure?: string | undefined
  /** Whether the Bundle was written in this pass, so that the cached one is about older content. */
  readonly isWritten?: boolean
}

/** Reasons of a Bundle that waits for a person. */
const WAITS_FOR_INPUT = ['InputNotAllowed', 'InputNotFound']

/** The condition Ready. */
export function readyState(facts: KustomizationFacts): ReadyState {
  const { bundle, counts, revision, newest, failure } = facts
  const building = { status: 'Unknown', reason: 'Progressing', message: `Building revision ${newest}.` } as const
  if (facts.isWritten || bundle?.status?.observedGeneration !== bundle?.metadata.generation) return building
  const conditions = bundle?.status?.conditions
  const ready = findCondition(conditions, 'Ready')
  const rendered = findCondition(conditions, 'Rendered')
  const isStalled = findCondition(conditions, 'Stalled')?.status === 'True'
  if (bundle?.status?.held) {
    return { status: 'False', reason: 'ReconciliationFailed', message: ready?.message ?? 'The guard stopped a change.' }
  }
  // While the Bundle waits before its content is known, the other conditions are about older content.
  const waits = findCondition(conditions, 'Reconciling')
  if (waits?.status === 'True' && WAITS_FOR_INPUT.includes(waits.reason)) {
    return { status: 'False', reason: 'BuildFailed', message: waits.message }
  }
  if (rendered?.status === 'False') {
    // A Bundle that is refused before it is rendered keeps the condition of an earlier rendering.
    const words = isStalled && ready ? ready : rendered
    return { status: 'False', reason: 'BuildFailed', message: words.message }
  }
  if (isStalled && ready) return { status: 'False', reason: 'ReconciliationFailed', message: ready.message }
  const unplaced = findCondition(conditions, 'Unplaced')
  if (unplaced?.status === 'True') return { status: 'False', reason: 'NoCluster', message: unplaced.message }
  if (waits?.status === 'True' && waits.reason !== 'RollingOut') return { ...building, message: waits.message }
  if (!counts || bundle?.status?.release === undefined) {
    return { ...building, message: ready?.message ?? building.message }
  }
  const partly = rendered?.reason === 'PartlyRendered' ? ` ${rendered.message}` : ''
  if (counts.total === 0) return { status: 'False', reason: 'NoCluster', message: 'No cluster is selected.' }
  if (counts.failed > 0) {
    const words = failure === undefined ? '' : `: ${failure}`
    return { status: 'False', reason: 'HealthCheckFailed', message: `${countsText(counts)}${words}${partly}` }
  }
  if (partly !== '') return { status: 'False', reason: 'BuildFailed', message: rendered!.message }
  if (counts.ready < counts.total) {
    return { status: 'Unknown', reason: 'Progressing', message: `Applying revision ${revision}: ${countsText(counts)}` }
  }
  if (revision !== newest) return building
  const where = counts.total === 1 ? '' : ` on ${plural(counts.total, 'cluster')}`
  return { status: 'True', reason: 'ReconciliationSucceeded', message: `Applied revision: ${revision}${where}` }
}

/** Condition Healthy of a Kustomization that waits for its objects; undefined before their health counts. */
export function healthyState(ready: ReadyState, revision: string, timeout: string): ReadyState | undefined {
  if (ready.status === 'True') return { status: 'True', reason: 'Succeeded', message: 'Health check passed' }
  if (ready.reason === 'HealthCheckFailed') {
    const message = `Health check failed: ${ready.message}`
    return { status: 'False', reason: 'HealthCheckFailed', message }
  }
  if (ready.status !== 'Unknown') return undefined
  const message = `Running health checks for revision ${revision} with a timeout of ${timeout}`
  return { status: 'Unknown', reason: 'Progressing', message }
}

/** `2 ready, 1 failed, 3 pending of 6 clusters`. */
function countsText({ total, ready, progressing, pending, failed, offline }: RolloutCounts): string {
  const counts = Object.entries({ ready, progressing, failed, offline, pending }).filter(([, count]) => count > 0)
  const named = counts.map(([state, count]) => `${count} ${state}`).join(', ')
  return `${named === '' ? '0 ready' : named} of ${plural(total, 'cluster')}`
}

/** The id of an object in an inventory of Flux: `namespace_name_group_kind`. */
export function inventoryId(object: {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}): { id: string; v: string } {
  const slash = object.apiVersion.indexOf('/')
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash)
  // Colons stand in names of RBAC objects and are written as two underscores.
  const name = object.name.replaceAll(':', '__')
  return { id: `${object.namespace ?? ''}_${name}_${group}_${object.kind}`, v: object.apiVersion.slice(slash + 1) }
}
