/**
 * Sets and objects by digest: from disk where they are complete, otherwise from the hub. Every byte is verified before
 * it is used.
 */
import type { Blobs } from '../../blobs/blobs.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { restoreSecretData } from '../../render/secret-values.ts'
import type { ObjectSet, SetObject } from '../../wire/document/cluster-document.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import { WireError } from '../../wire/validate.ts'
import type { HubApi } from '../link/hub-api.ts'
import type { DeltaBases, SealedValues } from './delta-bases.ts'
import { createLocalContent } from './local-content.ts'
import { createSealedContent } from './sealed-content.ts'
import type { SealedContentPorts } from './sealed-content.ts'
import { downloadSet } from './set-download.ts'

/** Ports of content. */
export interface ContentPorts extends Pick<SealedContentPorts, 'entryOf' | 'sealing'> {
  readonly blobs: Blobs
  /** undefined while there is no link. */
  readonly hub: () => HubApi | undefined
  readonly bases: DeltaBases
  readonly sealedValues: SealedValues
  readonly log: Logger
}

/** Creates the content behind documents. */
export function createContent({ blobs, hub, entryOf, sealing, bases, sealedValues, log }: ContentPorts) {
  const local = createLocalContent(blobs, hub)
  const sealed = createSealedContent({ local, sealedValues, entryOf, sealing })

  /** The manifest of a set. A set that is missing is fetched with its objects, which the caller needs next. */
  async function set(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    const bytes = await local.local(digest)
    return bytes ? parseObjectSet(bytes) : complete(digest, signal)
  }

  async function object(named: SetObject, signal: AbortSignal): Promise<UnknownObject> {
    return readObject(named, await local.load(named.digest, signal))
  }

  /** The files of a recipe, by path. */
  async function files({ objects }: ObjectSet, signal: AbortSignal): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    for (const { name, digest } of objects) found.set(name, await local.load(digest, signal))
    return found
  }

  /** A Secret with its values: opened for a write, and stored nowhere. */
  async function opened(
    named: SetObject,
    values: { readonly set: Digest; readonly values: Digest },
    signal: AbortSignal,
  ): Promise<UnknownObject> {
    const data = await sealed.open(named, values, signal)
    return restoreSecretData(await object(named, signal), data)
  }

  /** Fetches all of a set, so that the agent can apply and repair it without the hub. */
  async function complete(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    const entry = entryOf(digest)
    const findBase = async () => entry && bases.of(entry.bundle)
    const whole = await downloadSet(local, digest, { findBase, log }, signal)
    if (whole.values !== undefined) await sealed.find(digest, signal)
    if (entry) await bases.note(entry.bundle, { set: digest, held: entry.document })
    return whole
  }

  /**
   * Deletes every blob that none of these sets names. Blobs of `others` stay as far as they are on disk. False when new
   * sealed values must be fetched first.
   */
  async function collect(sets: readonly Digest[], others: readonly Digest[], signal: AbortSignal): Promise<boolean> {
    const named = [...sets, ...others]
    const wanted = new Set<Digest>(named)
    for (const digest of named) {
      const bytes = await local.local(digest)
      if (!bytes && !sets.includes(digest)) continue
      // Without the manifest of a set it is unknown which blobs it names: delete nothing.
      if (!bytes) return true
      const { objects, values } = parseObjectSet(bytes)
      for (const { digest: blob } of objects) wanted.add(blob)
      const found = values === undefined ? undefined : await sealed.find(digest, signal)
      if (found) wanted.add(found.sealed)
      // The values were sealed again: the previous values stay until the new values are on disk.
      if (found && found.sealed !== (entryOf(digest)?.sealed ?? found.sealed)) return false
    }
    await sealedValues.keepOnly(new Set<string>(named))
    for await (const digest of blobs.list()) if (!wanted.has(digest)) await blobs.delete(digest)
    return true
  }

  return {
    set,
    object,
    files,
    opened,
    complete,
    keysInUse: sealed.keysInUse,
    collect,
    /** A set when all of it is on disk, without a request to the hub. */
    kept: async (digest: Digest): Promise<ObjectSet | undefined> => (await local.completeSet(digest))?.set,
  }
}

/** Sets and objects by digest. */
export type Content = ReturnType<typeof createContent>

/** A digest alone would let another object pass: kind and name must be the kind and name that the set promises. */
function readObject(named: SetObject, bytes: Uint8Array): UnknownObject {
  let value: unknown
  try {
    value = JSON.parse(fromUtf8(bytes))
  } catch {
    throw new WireError('Malformed', `${describeObject(named)}: the content is not JSON`)
  }
  const metadata = isObject(value) ? value['metadata'] : undefined
  if (!isObject(value) || !isObject(metadata))
    throw new WireError('Malformed', `${describeObject(named)}: the content is not a Kubernetes object`)
  const isPromised =
    value['apiVersion'] === named.apiVersion &&
    value['kind'] === named.kind &&
    metadata['name'] === named.name &&
    (metadata['namespace'] ?? undefined) === named.namespace
  if (!isPromised)
    throw new WireError('Malformed', `${describeObject(named)}: the content is another object than the set declares`)
  return {
    ...value,
    apiVersion: named.apiVersion,
    kind: named.kind,
    metadata: { ...metadata, name: named.name },
  }
}
