/** Whether the status of a Bundle is about the content that was fetched last. */
import { findCondition } from '../../../core/conditions.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { isProjectReason } from '../../../plan/projects/project-of.ts'
import { COMPILED, POLL } from '../annotations.ts'

/** Why the newest content is not the one that a Bundle delivers. */
export interface OtherContent {
  readonly message: string
  /** Whether the hub has not looked at the newest content yet; what the status says is about an older one. */
  readonly isWaiting: boolean
  readonly reason?: string
}

/** Reasons of Ready that are about the Rollout of the newest content. */
const ROLLOUT_REASONS: ReadonlySet<string | undefined> = new Set([
  'RolledOut',
  'RollingOut',
  'RolloutFailed',
  'RolloutAborted',
  'RolloutPaused',
])

/** Compares a Bundle with what was compiled and fetched; undefined when it delivers that. */
export function otherContent(
  bundle: Bundle | undefined,
  compiled: Pick<Bundle, 'metadata'>,
  source: Source | undefined,
): OtherContent | undefined {
  const artifact = source?.status?.artifact
  const isNotRendered = {
    message: `${artifact?.revision ?? 'The newest content'} is not rendered yet.`,
    isWaiting: true,
  }
  if (!bundle) return isNotRendered
  const { metadata, status = {} } = bundle
  const suspended = findCondition(status.conditions, 'Suspended')
  if (suspended?.status === 'True') return { message: suspended.message, isWaiting: false, reason: suspended.reason }
  const ready = findCondition(status.conditions, 'Ready')
  const isCompiled = metadata.annotations?.[COMPILED] === compiled.metadata.annotations?.[COMPILED]
  const isLookedAt =
    isCompiled && status.observedGeneration === metadata.generation && status.artifact === artifact?.digest
  if (!isLookedAt || !ready) return isNotRendered
  if (ROLLOUT_REASONS.has(ready.reason) && status.sourceRevision === artifact?.revision) return undefined
  return { message: ready.message, isWaiting: false, reason: ready.reason }
}

/** Why the Sources may have newer content than was fetched: a fetch that was asked for is not done, or has failed. */
export function fetchProblem(sources: readonly Source[]): { readonly waits?: string; readonly failed?: string } {
  for (const { metadata, spec, status } of sources) {
    const ready = findCondition(status?.conditions, 'Ready')
    const token = metadata.annotations?.[POLL]
    if (isProjectReason(ready?.reason)) return { waits: ready!.message }
    if (token !== undefined && token.slice(0, 128) !== status?.hint && !spec.suspend)
      return { waits: 'The repository is being fetched.' }
    if (ready?.status === 'False') return { failed: `Failed to load target state: ${ready.message}` }
  }
  return {}
}
