/** Renders bundles from stored artifacts; the files of the artifacts used last stay in memory. */
import type { Blobs } from '../../blobs/blobs.ts'
import { generateTraditionalKey } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Ids } from '../../core/ids.ts'
import { createStepBudget } from '../../core/async/work-guard.ts'
import type { WorkProgress } from '../../core/async/work-guard.ts'
import { insidePath } from '../../render/bundle/detect-style.ts'
import { renderVariants } from '../../render/bundle/render-variants.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import type { ArtifactFiles } from '../../render/bundle/render-variant.ts'
import { withOpenedMessages } from './open-pgp-messages.ts'
import { DIALECT_BUILDERS } from '../../dialects/dialect-builders.ts'
import { readFiles, readTree } from '../../source/artifact.ts'

export interface RendererParts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly ids: Pick<Ids, 'bytes'>
  /** Time limit of the content for a cluster. Defaults to no limit. */
  readonly timeLimitMs?: number
}

/** Renders a request and reports its progress. */
export type BundleRenderer = (
  request: VariantsRequest,
  signal: AbortSignal,
  tell?: (progress: WorkProgress) => void,
) => Promise<VariantsResult>

/** Artifacts may be 256 MiB each. */
const MAX_KEPT = 3

export function createBundleRenderer({ blobs, clock, ids, timeLimitMs = Infinity }: RendererParts): BundleRenderer {
  const kept = new Map<Digest, Promise<ArtifactFiles>>()
  const entropy = { randomBytes: ids.bytes, now: () => clock.now(), generateKey: generateTraditionalKey }

  async function load(artifact: Digest): Promise<ArtifactFiles> {
    const tree = await readTree(artifact, blobs)
    if (!tree) throw new Error(`artifact ${artifact} is not stored`)
    return await readFiles(tree, '', blobs)
  }

  function filesOf(artifact: Digest): Promise<ArtifactFiles> {
    const known = kept.get(artifact)
    kept.delete(artifact)
    const files = known ?? load(artifact)
    kept.set(artifact, files)
    files.catch(() => kept.delete(artifact))
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
    return files
  }

  async function allFiles({ artifact, path = '', include = [] }: VariantsRequest['recipe']): Promise<ArtifactFiles> {
    const own = artifact === undefined ? new Map<string, Uint8Array>() : await filesOf(artifact)
    if (include.length === 0) return own
    const all = new Map(own)
    for (const { artifact: other, at } of include) {
      for (const [file, bytes] of await filesOf(other))
        all.set(insidePath(path, `${at}/${file}`, 'source.include'), bytes)
    }
    return all
  }

  return async (request, _signal, tell) => {
    const files = await allFiles(request.recipe)
    return withOpenedMessages((openedMessages) =>
      renderVariants(request, {
        files,
        entropy,
        builders: DIALECT_BUILDERS,
        openedMessages,
        watch: createStepBudget({ clock, timeMs: timeLimitMs }, tell ?? (() => {})),
      }),
    )
  }
}
