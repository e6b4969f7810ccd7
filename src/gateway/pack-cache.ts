/** Packs of sets. Clusters with the same base and set share a pack; the cache keeps the packs used last. */
import type { Blobs } from '../blobs/blobs.ts'
import { compact } from '../core/compact.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { SetObject } from '../wire/document/cluster-document.ts'
import { LIMITS } from '../wire/limits.ts'
import { encodePack, missingItems } from '../wire/document/pack.ts'
import type { PackItem } from '../wire/document/pack.ts'
import type { CachedSet, SetCache } from './set-cache.ts'

export interface PackCachePorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly sets: SetCache
}

export interface PackRequest {
  readonly set: Digest
  readonly base: Digest | undefined
  /** Index of the first object. The pack from 0 also has the manifest. */
  readonly from: number
}

const MAX_BYTES = 64 * 1024 * 1024

/** Returns the bytes of a pack; undefined if the set does not exist. */
export type PackCache = ReturnType<typeof createPackCache>

export function createPackCache({ blobs, sets }: PackCachePorts) {
  const kept = new Map<string, Uint8Array>()
  const making = new Map<string, Promise<Uint8Array | undefined>>()
  let size = 0

  async function object({ digest }: SetObject): Promise<Uint8Array> {
    const bytes = await blobs.get(digest)
    // I-27: an object is stored before a set names it.
    if (!bytes) throw new Error(`object ${digest} of a set is missing from the blob store`)
    return bytes
  }

  async function make({ set, base, from }: PackRequest): Promise<Uint8Array | undefined> {
    const target = await sets(set)
    if (!target || from > target.set.objects.length) return undefined
    const known = base === undefined ? undefined : await sets(base)
    const items = missingItems(target.set, known?.set, from)
    const { taken, objects, to } = await fill(items, target, from)
    const sameNames = await readFromBase(taken)
    const header = {
      from,
      to,
      total: target.set.objects.length,
      withBase: known !== undefined && from === 0,
      dictionary: sameNames.map(({ index }) => index),
    }
    return encodePack(
      compact({
        header,
        manifest: from === 0 ? target.bytes : undefined,
        objects,
        baseManifest: known && from === 0 ? known.bytes : undefined,
        dictionary: sameNames.map(({ bytes }) => bytes),
      }),
    )
  }

  /** As many objects as fit into the budget, at least one. */
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

  /** Objects of the same name in the base. The pack is correct without one that is missing, only larger. */
  async function readFromBase(
    items: readonly PackItem[],
  ): Promise<{ readonly index: number; readonly bytes: Uint8Array }[]> {
    const found: { index: number; bytes: Uint8Array }[] = []
    for (const { inBase: sameName } of items) {
      const bytes = sameName && (await blobs.get(sameName.object.digest))
      if (bytes) found.push({ index: sameName.index, bytes })
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
