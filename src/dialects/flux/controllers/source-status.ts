// Tested by src/dialects/flux/controllers/helm-sources.sim.test.ts.
/** Writes the state of a Source into the status of the object of Flux that it was made for. */
import { findCondition } from '../../../core/conditions.ts'
import type { ConditionSet, Draft } from '../../../engine/reconciler.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { REQUESTED } from '../compile/compile-source.ts'
import type { FluxArtifact } from '../kind-parts.ts'
import type { SourceStatus } from '../source-kinds.ts'
import type { SourceWords } from '../status/source-words.ts'
import { isCurrent } from './git-repository.ts'

/** Sets the conditions; returns the artifact if it is of the present spec. */
export function showSource<T extends KubeObject & { status?: SourceStatus }>(
  { next, conditions }: Draft<T>,
  source: Source | undefined,
  artifactOf: (source: Source) => FluxArtifact,
  words: SourceWords,
): FluxArtifact | undefined {
  const status: SourceStatus = (next.status ??= {} as NonNullable<T['status']>)
  const ready = findCondition(source?.status?.conditions, 'Ready')
  const requested = next.metadata.annotations?.[REQUESTED]
  if (requested !== undefined && source?.status?.hint === requested.slice(0, 128)) {
    status.lastHandledReconcileAt = requested
  }
  if (!source || !isCurrent(source)) {
    if (ready?.status === 'False') fail(conditions, ready.message, words)
    else conditions.set('Ready', 'Unknown', 'Progressing', 'building artifact: new revision is being fetched')
    return undefined
  }
  const artifact = artifactOf(source)
  status.artifact = artifact
  const message = words.done.message(artifact)
  conditions.set('ArtifactInStorage', 'True', words.done.reason, message)
  if (ready?.status === 'False') fail(conditions, ready.message, words)
  else {
    conditions.remove('FetchFailed')
    conditions.set('Ready', 'True', words.done.reason, message)
  }
  return artifact
}

function fail(conditions: ConditionSet, said: string, { failed }: SourceWords): void {
  const message = `${failed.message}: ${said}`.slice(0, 4096)
  conditions.set('FetchFailed', 'True', failed.reason, message)
  conditions.set('Ready', 'False', failed.reason, message)
}
