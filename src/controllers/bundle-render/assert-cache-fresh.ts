/**
 * Whether a Bundle, its newest Release and its Source are still what the caches show. A Release is a new object, so that no compare-and-swap protects it: a hub
 * that stood still, or hears of edits late, would give content of the past the newest number. The number is taken only once, so that
 * whoever asks first and then is slow loses to the Release of somebody who knows more.
 */
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { ApiError } from '../../core/errors.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'

/** Asks the API itself; throws a Conflict when the caches are behind. `knows` tells whether they have a Release of that name. */
export async function assertCacheFresh(
  client: Client,
  bundle: Bundle,
  knows: (release: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = '', uid, generation } = bundle.metadata
  const present = await findObject(client, Bundle, { namespace, name }, signal)
  if (present?.metadata.uid !== uid || present?.metadata.generation !== generation)
    throw behind(`Bundle ${keyOf(bundle)}`)
  const { release } = present?.status ?? {}
  if (
    release !== undefined &&
    !knows(release) &&
    (await findObject(client, Release, { namespace, name: release }, signal))
  )
    throw behind(`Release ${namespace}/${release}`)
  const { source } = bundle.spec
  if (!source) return
  const fetched = await findObject(client, Source, { namespace, name: source.name }, signal)
  if (fetched?.status?.artifact?.digest !== bundle.status?.artifact) throw behind(`Source ${namespace}/${source.name}`)
}

function behind(what: string): ApiError {
  return new ApiError('Conflict', `${what} is not what this hub has heard of; it is looked at again when it has.`)
}
