// Tested by src/agent/documents/sealed-values.contract.test.ts
/** Sealed values of sets: stored sealed, opened only for the write of a Secret, and never stored open. */
import { fromUtf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { SecretData } from '../../render/secret-values.ts'
import type { SetObject } from '../../wire/document/cluster-document.ts'
import { openSealedValue, parseSealed, sealedValueKey } from '../../wire/document/sealed-values.ts'
import { WireError } from '../../wire/validate.ts'
import type { SealedFor, SealedValues } from './delta-bases.ts'
import type { LocalContent } from './local-content.ts'

/** The bundle of the current document that has a set, and that document. */
export interface SetEntry {
  readonly bundle: string
  readonly document: Digest
  readonly sealed?: Digest | undefined
}

/** Ports of sealed values. */
export interface SealedContentPorts {
  readonly local: LocalContent
  readonly sealedValues: SealedValues
  readonly entryOf: (set: Digest) => SetEntry | undefined
  /** The cluster that values are sealed for, and its keys, current and former. */
  readonly sealing: () => { readonly clusterId: string; readonly keys: readonly Secret<string>[] } | undefined
}

/** Creates the access to sealed values. */
export function createSealedContent({ local, sealedValues, entryOf, sealing }: SealedContentPorts) {
  /** The sealed values of a set by the current document, or the previous values while the new are not on disk. */
  async function find(digest: Digest, signal: AbortSignal): Promise<SealedFor | undefined> {
    const entry = entryOf(digest)
    const before = await sealedValues.of(digest)
    if (entry?.sealed === undefined || entry.sealed === before?.sealed) return before
    const now = { bundle: entry.bundle, sealed: entry.sealed }
    try {
      await local.load(entry.sealed, signal)
    } catch (caught) {
      if (before) return before
      throw caught
    }
    await sealedValues.note(digest, now)
    return now
  }

  /** Opens the values of a Secret. */
  async function open(
    named: SetObject,
    { set, values }: { readonly set: Digest; readonly values: Digest },
    signal: AbortSignal,
  ): Promise<Secret<SecretData>> {
    const found = await find(set, signal)
    const cluster = sealing()
    if (!found || !cluster) {
      throw new WireError('Malformed', `${describeObject(named)}: the document has no sealed values for this Secret`)
    }
    const sealed = parseSealed(await local.load(found.sealed, signal))
    const context = { clusterId: cluster.clusterId, bundle: found.bundle, values }
    return readValues(named, openSealedValue(sealed, context, sealedValueKey(named), cluster.keys))
  }

  /** Resolves to a predicate: may a sealed value need this key? A value that is not on disk yet may need any key. */
  async function keysInUse(named: readonly Digest[]): Promise<(key: Digest) => boolean> {
    const used = new Set<Digest>()
    for (const digest of [...named, ...(await sealedValues.values()).map(({ sealed }) => sealed)]) {
      const bytes = await local.local(digest).catch(() => undefined)
      if (!bytes) return () => true
      used.add(parseSealed(bytes).key)
    }
    return (key) => used.has(key)
  }

  return { find, open, keysInUse }
}

/** Values under other keys than the set promises are not what the hub signed. */
function readValues(named: SetObject, value: Secret<Uint8Array>): Secret<SecretData> {
  const data: unknown = JSON.parse(fromUtf8(value.reveal()))
  const isPromised =
    isObject(data) &&
    jsonEqual(Object.keys(data).sort(), named.sealed) &&
    Object.values(data).every((text) => typeof text === 'string')
  if (!isPromised)
    throw new WireError(
      'Malformed',
      `${describeObject(named)}: the sealed values have other keys than the set declares`,
    )
  return new Secret(data as SecretData)
}
