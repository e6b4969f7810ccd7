/** Sets and objects by digest: from disk when they are there, from the hub when they are not, verified before anybody sees them. */
import type { Blobs } from '../blobs/blobs.ts'
import { fromUtf8 } from '../core/bytes.ts'
import type { Digest } from '../core/digest.ts'
import { Waiting } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import type { ObjectSet, SetObject } from '../wire/document.ts'
import { checkDigest, parseObjectSet } from '../wire/signed-document.ts'
import { WireError } from '../wire/validate.ts'
import type { HubApi } from './hub-api.ts'
import { describeObject } from './object-id.ts'

/** What content needs. */
export interface ContentPorts {
  readonly blobs: Blobs
  /** undefined while there is no link. */
  readonly hub: () => HubApi | undefined
}

/** The bytes behind a document. */
export function createContent({ blobs, hub }: ContentPorts) {
  /** Only what is on disk. */
  async function local(digest: Digest): Promise<Uint8Array | undefined> {
    const bytes = await blobs.get(digest)
    if (bytes) checkDigest(bytes, digest, 'blob on disk')
    return bytes
  }

  async function load(digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
    const kept = await local(digest)
    if (kept) return kept
    const api = hub()
    if (!api) throw new Waiting('NoLink', 'its content is not here yet and the hub cannot be reached', 5000)
    const bytes = await api.blob(digest, signal)
    await blobs.put(bytes)
    return bytes
  }

  async function set(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    return parseObjectSet(await load(digest, signal))
  }

  async function object(named: SetObject, signal: AbortSignal): Promise<UnknownObject> {
    return readObject(named, await load(named.digest, signal))
  }

  /** Fetches all of a set, so that it can be applied and repaired without the hub. */
  async function complete(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    const whole = await set(digest, signal)
    for (const named of whole.objects) {
      if (!(await blobs.has(named.digest))) await load(named.digest, signal)
    }
    return whole
  }

  /** Forgets every blob that none of these sets names. */
  async function collect(sets: readonly Digest[]): Promise<void> {
    const wanted = new Set<Digest>(sets)
    for (const digest of sets) {
      const bytes = await local(digest)
      // Without one of the sets it is unknown what it names: keep everything.
      if (!bytes) return
      for (const named of parseObjectSet(bytes).objects) wanted.add(named.digest)
    }
    for await (const digest of blobs.list()) if (!wanted.has(digest)) await blobs.delete(digest)
  }

  return { set, object, complete, collect }
}

/** The bytes behind a document, as the operator uses them. */
export type Content = ReturnType<typeof createContent>

// The set promised an object of this kind and name; a digest alone would let other content pass under it.
function readObject(named: SetObject, bytes: Uint8Array): UnknownObject {
  let value: unknown
  try {
    value = JSON.parse(fromUtf8(bytes))
  } catch {
    throw new WireError('Malformed', `${describeObject(named)}: its content is not JSON`)
  }
  const metadata = isObject(value) ? value['metadata'] : undefined
  if (!isObject(value) || !isObject(metadata))
    throw new WireError('Malformed', `${describeObject(named)}: not an object`)
  const same =
    value['apiVersion'] === named.apiVersion &&
    value['kind'] === named.kind &&
    metadata['name'] === named.name &&
    (metadata['namespace'] ?? undefined) === named.namespace
  if (!same) throw new WireError('Malformed', `${describeObject(named)}: its content is another object`)
  return {
    ...value,
    apiVersion: named.apiVersion,
    kind: named.kind,
    metadata: { ...metadata, name: named.name },
  }
}
