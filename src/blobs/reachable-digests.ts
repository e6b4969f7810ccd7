import { fromBase64 } from '../core/bytes.ts'
import { isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { isObject } from '../core/json.ts'
import type { Blobs } from './blobs.ts'

/** The digests of blobs in use. The collector deletes all other blobs, so in doubt a digest counts as used. */

/** All digests in a text. */
export function digestsIn(text: string): Digest[] {
  return Array.from(text.matchAll(/sha256:[0-9a-f]{64}/g), ([digest]) => digest).filter(isDigest)
}

/**
 * The blobs a blob names. A signed document names the sets of its entries, and not its predecessor: history is kept by
 * the objects that name it. Of what is not known here, every digest counts.
 */
function digestsNamedBy(bytes: Uint8Array): Digest[] {
  const text = new TextDecoder().decode(bytes)
  const value = parsed(text)
  if (!isObject(value) || typeof value['payloadType'] !== 'string' || typeof value['payload'] !== 'string') {
    // A rendered object may speak of image digests; no blob has their names.
    return digestsIn(text)
  }
  const payload = new TextDecoder().decode(fromBase64(value['payload']))
  const document = parsed(payload)
  if (!isObject(document) || document['format'] !== 'flotilla.dev/document/v1') return digestsIn(payload)
  return digestsIn(JSON.stringify(document['content'] ?? {}))
}

/** All blobs that can be reached from these. A blob that cannot be read ends the walk with its error. */
export async function reachableDigests(roots: Iterable<Digest>, blobs: Pick<Blobs, 'get'>): Promise<Set<Digest>> {
  const reached = new Set<Digest>(roots)
  // A set grows while it is walked, and the walk sees what was added.
  for (const digest of reached) {
    const bytes = await blobs.get(digest)
    if (bytes) for (const named of digestsNamedBy(bytes)) reached.add(named)
  }
  return reached
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
