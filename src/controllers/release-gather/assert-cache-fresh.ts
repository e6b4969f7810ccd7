/**
 * Checks that Bundles, their newest Releases and their Source are still what the caches show. A Release is a new
 * object, so that no compare-and-swap protects it: a hub that stopped for a while, or that receives changes late, would
 * give older content the newest generation. The name of a Release is taken only once, so that a hub that checks first
 * and then is slow loses to the Release of a hub with newer data.
 */
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { ApiError } from '../../core/errors.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import type { RenderedContent } from './ports.ts'

/**
 * Reads from the API server; throws a Conflict when the caches are behind. `isKnown` tells whether a cache has a
 * Release.
 */
export async function assertCacheFresh(
  client: Client,
  contents: readonly RenderedContent[],
  isKnown: (beside: Bundle, release: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const { bundle } of contents) {
    const { name, namespace = '', uid, generation } = bundle.metadata
    const present = await findObject(client, Bundle, { namespace, name }, signal)
    if (present?.metadata.uid !== uid || present?.metadata.generation !== generation)
      throw behind(`Bundle ${keyOf(bundle)}`)
    const { release } = present?.status ?? {}
    if (
      release !== undefined &&
      !isKnown(bundle, release) &&
      (await findObject(client, Release, { namespace, name: release }, signal))
    )
      throw behind(`Release ${namespace}/${release}`)
  }
  // The contents of a Release are from one Source and one artifact.
  const [first] = contents
  if (!first?.bundle.spec.source) return
  const { namespace = '' } = first.bundle.metadata
  const { name } = first.bundle.spec.source
  const fetched = await findObject(client, Source, { namespace, name }, signal)
  if (fetched?.status?.artifact?.digest !== first.artifact) throw behind(`Source ${namespace}/${name}`)
}

function behind(object: string): ApiError {
  return new ApiError('Conflict', `${object} is newer in the API server than in this hub's cache; the hub tries again.`)
}
