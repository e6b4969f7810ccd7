/** Sets and objects by digest: from disk when they are there, from the hub when they are not, verified before anybody sees them. */
import type { Blobs } from '../../blobs/blobs.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError, Waiting } from '../../core/errors.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { restoreSecretData } from '../../render/secret-values.ts'
import type { SecretData } from '../../render/secret-values.ts'
import type { ObjectSet, SetObject } from '../../wire/document/cluster-document.ts'
import { decodePack, missingItems, openPack } from '../../wire/document/pack.ts'
import { openSealedValue, parseSealed, sealedValueKey } from '../../wire/document/sealed-values.ts'
import { checkDigest, parseObjectSet } from '../../wire/document/signed-document.ts'
import { WireError } from '../../wire/validate.ts'
import type { DeltaBases, SealedFor, SealedValues } from './delta-bases.ts'
import type { HubApi } from '../link/hub-api.ts'
import { describeObject } from '../../plan/objects/object-id.ts'

/** What content needs. */
export interface ContentPorts {
  readonly blobs: Blobs
  /** undefined while there is no link. */
  readonly hub: () => HubApi | undefined
  /** Which bundle of the present document has this set, and that document. */
  readonly entryOf: (
    set: Digest,
  ) => { readonly bundle: string; readonly document: Digest; readonly sealed?: Digest | undefined } | undefined
  /** Who opens secret values: this cluster, with the keys it has and had. */
  readonly sealing: () => { readonly clusterId: string; readonly keys: readonly Secret<string>[] } | undefined
  readonly bases: DeltaBases
  readonly sealedValues: SealedValues
  readonly log: Logger
}

/** The bytes behind a document. */
export function createContent({ blobs, hub, entryOf, sealing, bases, sealedValues, log }: ContentPorts) {
  /** Only what is on disk. */
  async function local(digest: Digest): Promise<Uint8Array | undefined> {
    const bytes = await blobs.get(digest)
    if (bytes) checkDigest(bytes, digest, 'blob on disk')
    return bytes
  }

  function link(): HubApi {
    const api = hub()
    if (!api) throw new Waiting('NoLink', 'its content is not here yet and the hub cannot be reached', 5000)
    return api
  }

  async function load(digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
    const kept = await local(digest)
    if (kept) return kept
    const bytes = await link().blob(digest, signal)
    await blobs.put(bytes)
    return bytes
  }

  async function set(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    const kept = await local(digest)
    // One that is not here is fetched with its objects, as a difference to what is: who asks for it wants them next.
    return kept ? parseObjectSet(kept) : complete(digest, signal)
  }

  async function object(named: SetObject, signal: AbortSignal): Promise<UnknownObject> {
    return readObject(named, await load(named.digest, signal))
  }

  /** The files of a set that is rendered here, by path. */
  async function files({ objects }: ObjectSet, signal: AbortSignal): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    for (const { name, digest } of objects) found.set(name, await load(digest, signal))
    return found
  }

  /** The sealed values of a set: those of the present document, or those it came with while they are not here. */
  async function sealedFor(digest: Digest, signal: AbortSignal): Promise<SealedFor | undefined> {
    const entry = entryOf(digest)
    const before = await sealedValues.of(digest)
    if (entry?.sealed === undefined || entry.sealed === before?.sealed) return before
    const now = { bundle: entry.bundle, sealed: entry.sealed }
    try {
      await load(entry.sealed, signal)
    } catch (caught) {
      if (before) return before
      throw caught
    }
    await sealedValues.note(digest, now)
    return now
  }

  /** A Secret with its values: opened now, for who writes it, and kept nowhere. */
  async function opened(
    named: SetObject,
    { set: digest, values }: { readonly set: Digest; readonly values: Digest },
    signal: AbortSignal,
  ): Promise<UnknownObject> {
    const found = await sealedFor(digest, signal)
    const who = sealing()
    if (!found || !who) {
      throw new WireError('Malformed', `${describeObject(named)}: no document brought values for it`)
    }
    const sealed = parseSealed(await load(found.sealed, signal))
    const context = { clusterId: who.clusterId, bundle: found.bundle, values }
    const data = readSlot(named, openSealedValue(sealed, context, sealedValueKey(named), who.keys))
    return restoreSecretData(await object(named, signal), data)
  }

  /** Fetches all of a set, so that it can be applied and repaired without the hub: one answer after another, as differences to what is here. */
  async function complete(digest: Digest, signal: AbortSignal): Promise<ObjectSet> {
    const entry = entryOf(digest)
    const kept = await local(digest)
    let whole = kept && parseObjectSet(kept)
    let from = whole ? await firstMissing(whole, 0) : 0
    if (!whole || from < whole.objects.length) {
      let base = entry && (await bases.of(entry.bundle))
      let baseSet = base && (await keptWhole(base.set))
      for (;;) {
        const pack = openPack(await link().set(digest, { base: baseSet ? base : undefined, from }, signal))
        const { header } = pack
        if (header.from !== from) throw new WireError('Malformed', 'the hub sent another part of the set')
        let parts: ReturnType<typeof decodePack>
        try {
          parts = decodePack(pack, await dictionaryOf(header, baseSet))
        } catch (caught) {
          if (!baseSet) throw caught
          // What is here is not what the hub thinks: then all of it.
          log.info({ set: digest, err: toError(caught) }, 'the difference does not fit, fetching the whole')
          base = undefined
          baseSet = undefined
          continue
        }
        if (parts.manifest) {
          checkDigest(parts.manifest, digest, 'set')
          whole = parseObjectSet(parts.manifest)
        }
        if (!whole) throw new WireError('Malformed', 'the hub sent objects before their set')
        // The set last: a set that is here says which objects are missing.
        await keepObjects(whole, { from, to: header.to, base: baseSet?.set }, parts.objects)
        if (parts.manifest) await blobs.put(parts.manifest)
        from = await firstMissing(whole, header.to)
        if (from >= whole.objects.length) break
      }
    }
    if (whole.values !== undefined) await sealedFor(digest, signal)
    if (entry) await bases.note(entry.bundle, { set: digest, held: entry.document })
    return whole
  }

  async function keepObjects(
    whole: ObjectSet,
    part: { readonly from: number; readonly to: number; readonly base: ObjectSet | undefined },
    objects: readonly Uint8Array[],
  ): Promise<void> {
    const expected = missingItems(whole, part.base, part.from).filter(({ index }) => index < part.to)
    if (expected.length !== objects.length) throw new WireError('Malformed', 'the hub sent another number of objects')
    for (const [index, { object: named }] of expected.entries()) {
      checkDigest(objects[index]!, named.digest, describeObject(named))
      await blobs.put(objects[index]!)
    }
  }

  async function firstMissing({ objects }: ObjectSet, from: number): Promise<number> {
    for (let index = from; index < objects.length; index++) {
      if (!(await blobs.has(objects[index]!.digest))) return index
    }
    return objects.length
  }

  /** A set when all of it is here. */
  async function keptWhole(
    digest: Digest,
  ): Promise<{ readonly set: ObjectSet; readonly bytes: Uint8Array } | undefined> {
    const bytes = await local(digest).catch(() => undefined)
    if (!bytes) return undefined
    const found = parseObjectSet(bytes)
    return (await firstMissing(found, 0)) === found.objects.length ? { set: found, bytes } : undefined
  }

  async function dictionaryOf(
    header: { readonly withBase: boolean; readonly dictionary: readonly number[] },
    base: { readonly set: ObjectSet; readonly bytes: Uint8Array } | undefined,
  ) {
    const dictionary: Uint8Array[] = []
    for (const index of header.dictionary) {
      const named = base?.set.objects[index]
      const bytes = named && (await local(named.digest))
      if (!bytes) throw new WireError('Malformed', 'the hub used a base that is not here')
      dictionary.push(bytes)
    }
    if (!header.withBase) return { dictionary }
    if (!base) throw new WireError('Malformed', 'the hub used a base that is not here')
    return { baseManifest: base.bytes, dictionary }
  }

  /** Whether something sealed may need a key: what is not here yet may need any. */
  async function keysInUse(named: readonly Digest[]): Promise<(key: Digest) => boolean> {
    const used = new Set<Digest>()
    for (const digest of [...named, ...(await sealedValues.values()).map(({ sealed }) => sealed)]) {
      const bytes = await local(digest).catch(() => undefined)
      if (!bytes) return () => true
      used.add(parseSealed(bytes).key)
    }
    return (key) => used.has(key)
  }

  /** Forgets every blob that none of these sets names; of `others`, what is here stays. False when something is to be fetched first. */
  async function collect(sets: readonly Digest[], others: readonly Digest[], signal: AbortSignal): Promise<boolean> {
    const named = [...sets, ...others]
    const wanted = new Set<Digest>(named)
    for (const digest of named) {
      const bytes = await local(digest)
      if (!bytes && !sets.includes(digest)) continue
      // Without one of the sets it is unknown what it names: keep everything.
      if (!bytes) return true
      const { objects, values } = parseObjectSet(bytes)
      for (const object of objects) wanted.add(object.digest)
      const found = values === undefined ? undefined : await sealedFor(digest, signal)
      if (found) wanted.add(found.sealed)
      // Sealed again: what was sealed before stays until its successor is here.
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
    keysInUse,
    collect,
    /** A set when all of it is here, without asking the hub. */
    kept: async (digest: Digest): Promise<ObjectSet | undefined> => (await keptWhole(digest))?.set,
  }
}

/** The bytes behind a document, as the operator uses them. */
export type Content = ReturnType<typeof createContent>

// The set promised values under these keys; others are not what was signed.
function readSlot(named: SetObject, value: Secret<Uint8Array>): Secret<SecretData> {
  const data: unknown = JSON.parse(fromUtf8(value.reveal()))
  const isPromised =
    isObject(data) &&
    jsonEqual(Object.keys(data).sort(), named.sealed) &&
    Object.values(data).every((text) => typeof text === 'string')
  if (!isPromised)
    throw new WireError('Malformed', `${describeObject(named)}: its values have other keys than its set says`)
  return new Secret(data as SecretData)
}

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
