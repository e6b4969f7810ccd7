/** Blobs of the agent: on disk where they are complete, and from the hub where they are missing. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Waiting } from '../../core/errors.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { checkDigest, parseObjectSet } from '../../wire/document/signed-document.ts'
import type { HubApi } from '../link/hub-api.ts'
import { REQUEST_TIMING } from '../timing.ts'

/** A set whose objects are all on disk, and the bytes of its manifest. */
export interface CompleteSet {
  readonly set: ObjectSet
  readonly bytes: Uint8Array
}

/** Creates the access to blobs; `hub` is undefined while there is no link. */
export function createLocalContent(blobs: Blobs, hub: () => HubApi | undefined) {
  /** A blob on disk. */
  async function local(digest: Digest): Promise<Uint8Array | undefined> {
    const bytes = await blobs.get(digest)
    if (bytes) checkDigest(bytes, digest, 'blob on disk')
    return bytes
  }

  function link(): HubApi {
    const api = hub()
    if (api) return api
    const message =
      'the content of the bundle is not on disk and the hub cannot be reached; the agent waits for the link'
    throw new Waiting('NoLink', message, REQUEST_TIMING.noLinkRetryMs)
  }

  /** A blob on disk, fetched from the hub if it is missing. */
  async function load(digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
    const known = await local(digest)
    if (known) return known
    const bytes = await link().blob(digest, signal)
    await blobs.put(bytes)
    return bytes
  }

  /** The index of the first object, from `from` on, that is not on disk; the number of objects when all are. */
  async function firstMissing({ objects }: ObjectSet, from: number): Promise<number> {
    for (let index = from; index < objects.length; index++) {
      if (!(await blobs.has(objects[index]!.digest))) return index
    }
    return objects.length
  }

  /** A set when all of it is on disk. */
  async function completeSet(digest: Digest): Promise<CompleteSet | undefined> {
    const bytes = await local(digest).catch(() => undefined)
    if (!bytes) return undefined
    const found = parseObjectSet(bytes)
    return (await firstMissing(found, 0)) === found.objects.length ? { set: found, bytes } : undefined
  }

  return { local, link, load, firstMissing, completeSet, put: (bytes: Uint8Array) => blobs.put(bytes) }
}

/** Blobs of the agent. */
export type LocalContent = ReturnType<typeof createLocalContent>
