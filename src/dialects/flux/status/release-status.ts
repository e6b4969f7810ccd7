/** The state of a HelmRelease in the words of Flux. */
import type { Snapshot } from '../release/release-kind.ts'
import type { ReadyState } from './kustomization-status.ts'

/** What the conditions are about. */
export interface ReleaseFacts {
  /** The state of the Bundle, in the words of a Kustomization. */
  readonly state: ReadyState
  /** The newest version; undefined before anything was rendered. */
  readonly newest: Snapshot | undefined
  /** The version before. */
  readonly previous: Snapshot | undefined
  readonly release: { readonly name: string; readonly namespace: string }
  /** Name and version of the chart. */
  readonly chart: string
  readonly timeout: string
  readonly isTested: boolean
  readonly clusters: number
}

/** The conditions; one that is undefined is not there. */
export interface ReleaseConditions {
  readonly Ready: ReadyState
  readonly Released?: ReadyState
  readonly TestSuccess?: ReadyState
  readonly Remediated?: ReadyState
}

/** States of the Bundle in which the release itself failed. */
const FAILED = ['BuildFailed', 'HealthCheckFailed']

/** The conditions of a HelmRelease. */
export function releaseConditions(facts: ReleaseFacts): ReleaseConditions {
  const { state, newest, release, chart, clusters, isTested } = facts
  const id = `${release.namespace}/${release.name}`
  // Content that could not be rendered is in no version.
  const isInstall = newest === undefined || (newest.version === 1 && (state.status === 'True' || !isDone(newest)))
  const action = isInstall ? 'install' : 'upgrade'
  const named = `release ${id}${newest ? `.v${newest.version}` : ''} with chart ${chart}`
  if (state.status === 'True') {
    const where = clusters === 1 ? '' : ` on ${clusters} clusters`
    const done: ReadyState = {
      status: 'True',
      reason: isInstall ? 'InstallSucceeded' : 'UpgradeSucceeded',
      message: `Helm ${action} succeeded for ${named}${where}`,
    }
    if (!isTested) return { Ready: done, Released: done }
    const message = `Helm test succeeded for ${named}${where}`
    const tested: ReadyState = { status: 'True', reason: 'TestSucceeded', message }
    return { Ready: tested, Released: done, TestSuccess: tested }
  }
  if (state.status === 'Unknown') {
    const message = `Running '${action}' action with timeout of ${facts.timeout}. ${state.message}`
    return { Ready: { status: 'Unknown', reason: 'Progressing', message } }
  }
  if (!FAILED.includes(state.reason)) return { Ready: state }
  const failed: ReadyState = {
    status: 'False',
    reason: isInstall ? 'InstallFailed' : 'UpgradeFailed',
    message: `Helm ${action} failed for release ${id} with chart ${chart}: ${state.message}`,
  }
  const remedy = remediated(facts, id)
  if (!remedy) return { Ready: failed, Released: failed }
  // Flux is not ready after a remediation: it is not the content that was asked for.
  return { Ready: { ...remedy, status: 'False' }, Released: failed, Remediated: remedy }
}

/** Whether a version was on all clusters once. */
function isDone({ status }: Snapshot): boolean {
  return status === 'deployed' || status === 'superseded'
}

/** What the agent of a cluster did about the failure, from its own words. */
function remediated({ state, previous, chart }: ReleaseFacts, id: string): ReadyState | undefined {
  const { message } = state
  const before = previous
    ? `${id}.v${previous.version} with chart ${previous.chartName}@${previous.chartVersion}`
    : `${id} with chart ${chart}`
  if (message.includes('; not rolled back: ')) {
    const words = `Helm rollback to previous release ${before} failed: ${message}`
    return { status: 'False', reason: 'RollbackFailed', message: words }
  }
  if (message.includes('rolled back to the previous set: ')) {
    const words = `Helm rollback to previous release ${before} succeeded: ${message}`
    return { status: 'True', reason: 'RollbackSucceeded', message: words }
  }
  if (message.includes('uninstalled after a failure: ')) {
    const words = `Helm uninstall succeeded for release ${id} with chart ${chart}: ${message}`
    return { status: 'True', reason: 'UninstallSucceeded', message: words }
  }
  return undefined
}

/** What decides the history. */
export interface HistoryFacts {
  readonly history: readonly Snapshot[]
  /** The content that was released last; undefined while there is none. */
  readonly digest: string | undefined
  readonly state: ReadyState
  readonly most: number
  readonly now: string
  readonly release: { readonly name: string; readonly namespace: string }
  readonly chart: { readonly name: string; readonly version: string; readonly appVersion: string }
  readonly configDigest: string | undefined
}

/** The versions of a release, the newest first: content that is new makes a version. */
export function releaseHistory(facts: HistoryFacts): Snapshot[] {
  const { history, digest, state, most, now, release, chart, configDigest } = facts
  if (digest === undefined) return [...history]
  const [last] = history
  const isSame = last?.digest === digest
  const version = isSame ? last.version : (last?.version ?? 0) + 1
  const settled = isSame && isDone(last)
  // What was deployed stays so while other content is rendered or cannot be.
  const status = settled ? 'deployed' : statusOf(state, version)
  const newest: Snapshot = isSame
    ? { ...last, status, lastDeployed: status === 'deployed' && !settled ? now : last.lastDeployed }
    : {
        ...release,
        version,
        chartName: chart.name,
        chartVersion: chart.version,
        ...(chart.appVersion !== '' && { appVersion: chart.appVersion }),
        ...(configDigest !== undefined && { configDigest }),
        digest,
        firstDeployed: last?.firstDeployed ?? now,
        lastDeployed: now,
        status,
      }
  const older = (isSame ? history.slice(1) : history).map((one): Snapshot =>
    one.status === 'deployed' && status === 'deployed' ? { ...one, status: 'superseded' } : one,
  )
  return [newest, ...older].slice(0, most)
}

function statusOf({ status, reason }: ReadyState, version: number): string {
  if (status === 'True') return 'deployed'
  if (status === 'False' && FAILED.includes(reason)) return 'failed'
  return version === 1 ? 'pending-install' : 'pending-upgrade'
}
