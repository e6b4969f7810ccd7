/** Bundles rendered from stored artifacts: files are read once per artifact and kept while they are wanted. */
import type { Blobs } from '../blobs/blobs.ts'
import type { RenderPort } from '../controllers/controllers.ts'
import { generateTraditionalKey } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import type { Digest } from '../core/digest.ts'
import type { Ids } from '../core/ids.ts'
import { renderVariants } from '../render/bundle/render-variants.ts'
import type { ArtifactFiles } from '../render/bundle/render-variant.ts'
import { readFiles, readTree } from '../source/artifact.ts'

/** What rendering needs besides the request. */
export interface RendererParts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'bytes'>
}

/** Artifacts may be 256 MiB each. */
const MAX_KEPT = 3

/** Makes a renderer. */
export function createBundleRenderer({ blobs, clock, ids }: RendererParts): RenderPort {
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

  return async (request) => {
    const { artifact } = request.recipe
    return renderVariants(request, { files: artifact === undefined ? new Map() : await filesOf(artifact), entropy })
  }
}
