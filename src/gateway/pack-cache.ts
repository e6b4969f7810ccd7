/** Packs of sets, made once for all clusters that have the same base and want the same set, and kept while they are asked for. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { SetObject } from '../wire/document/cluster-document.ts'
import { LIMITS } from '../wire/limits.ts'
import { encodePack, missingItems } from '../wire/document/pack.ts'
import type { PackItem } from '../wire/document/pack.ts'
import type { CachedSet, SetCache } from './set-cache.ts'

/** What packs are made of. */
export interface PackPorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly sets: SetCache
}

/** Which pack. */
export interface PackRequest {
  readonly set: Digest
  readonly base: Digest | undefined
  /** The first object; 0 brings the manifest too. */
  readonly from: number
}

const MAX_BYTES = 64 * 1024 * 1024

/** Makes and keeps packs. */
export function createPacks({ blobs, sets }: PackPorts) {
  const kept = new Map<string, Uint8Array>()
  const making = new Map<string, Promise<Uint8Array | undefined>>()
  let size = 0

  async function object({ digest }: SetObject): Promise<Uint8Array> {
    const bytes = await blobs.get(digest)
    // I-27: an object is stored before a set names it.
    if (!bytes) throw new Error(`object ${digest} of a set is missing from the blobs`)
    return bytes
  }

  async function make({ set, base, from }: PackRequest): Promise<Uint8Array | undefined> {
    const target = await sets(set)
    if (!target || from > target.set.objects.length) return undefined
    const known = base === undefined ? undefined : await sets(base)
    const items = missingItems(target.set, known?.set, from)
    const { taken, objects, to } = await fill(items, target, from)
    const namesakes = await inBase(taken)
    const header = {
      from,
      to,
      total: target.set.objects.length,
      withBase: known !== undefined && from === 0,
      dictionary: namesakes.map(({ index }) => index),
    }
    return encodePack({
      header,
      ...(from === 0 ? { manifest: target.bytes } : {}),
      objects,
      ...(known && from === 0 ? { baseManifest: known.bytes } : {}),
      dictionary: namesakes.map(({ bytes }) => bytes),
    })
  }

  /** As many objects as the budget holds, at least one. */
  async function fill(items: readonly PackItem[], { set, bytes }: CachedSet, from: number) {
    const objects: Uint8Array[] = []
    let room = LIMITS.packBudgetBytes - (from === 0 ? bytes.byteLength : 0)
    for (const item of items) {
      const next = await object(item.object)
      if (objects.length > 0 && next.byteLength > room) {
        return { taken: items.slice(0, objects.length), objects, to: item.index }
      }
      objects.push(next)
      room -= next.byteLength
    }
    return { taken: items, objects, to: set.objects.length }
  }

  /** Namesakes in the base; one that is not there any more is no help and no harm. */
  async function inBase(items: readonly PackItem[]): Promise<{ readonly index: number; readonly bytes: Uint8Array }[]> {
    const found: { index: number; bytes: Uint8Array }[] = []
    for (const { inBase: namesake } of items) {
      const bytes = namesake && (await blobs.get(namesake.object.digest))
      if (bytes) found.push({ index: namesake.index, bytes })
    }
    return found
  }

  function keep(key: string, pack: Uint8Array): void {
    kept.set(key, pack)
    size += pack.byteLength
    for (const [oldest, { byteLength }] of kept) {
      if (size <= MAX_BYTES || oldest === key) break
      kept.delete(oldest)
      size -= byteLength
    }
  }

  /** The bytes of a pack; undefined when there is no such set. */
  return async function pack(request: PackRequest): Promise<Uint8Array | undefined> {
    const key = `${request.set} ${request.base ?? ''} ${request.from}`
    const known = kept.get(key)
    if (known) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    const present = making.get(key)
    if (present) return present
    const made = make(request).finally(() => making.delete(key))
    making.set(key, made)
    const bytes = await made
    if (bytes && !kept.has(key)) keep(key, bytes)
    return bytes
  }
}
