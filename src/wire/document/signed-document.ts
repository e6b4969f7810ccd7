/** Documents and sets as bytes: signed, checked, bounded. */
import type { TSchema } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
import { parseTime } from '../../core/time/time.ts'
import { BundleOptionsSchema } from '../../kinds/fields/bundle-options.ts'
import { ClusterDocumentSchema, ObjectSetSchema } from './cluster-document.ts'
import type { ClusterDocument, ObjectSet, SetObject } from './cluster-document.ts'
import { openEnvelope, PAYLOAD, signEnvelope, unverifiedPayload } from '../trust/envelope.ts'
import type { Signer, TrustedKey } from '../trust/envelope.ts'
import { LIMITS } from '../limits.ts'
import { SEALED_FEATURE } from './sealed-values.ts'
import { parseJson, WireError } from '../validate.ts'

/** What a document with `terminal` requires. */
export const TERMINAL_FEATURE = 'terminal/v1'

/** What a document requires that names a set which the agent renders. */
export const RENDER_FEATURE = 'render/v1'

/** What a document requires that names a set with encrypted files, which the agent decrypts. */
export const DECRYPT_FEATURE = 'decrypt/v1'

/** What a document with `rules.projects` or `rules.withoutProject` requires. */
export const PROJECTS_FEATURE = 'projects/v1'

/** What a document requires that has an entry or a tombstone of a Delivery. */
export const DELIVERY_FEATURE = 'delivery/v1'

/** What a document requires that names a set of checks, which the agent evaluates and does not apply. */
export const CHECKS_FEATURE = 'checks/v1'

/** What a document with `rules.handover` requires: without it an agent would take objects over at once. */
export const HANDOVER_FEATURE = 'handover/v1'

/** What a document requires that names a set with a health profile, or with health rules in Lua. */
export const HEALTH_FEATURE = 'health/v2'

/** Features this version's agents have; a document that requires another is refused, naming it. */
export const FEATURES: readonly string[] = [
  'sets/v1',
  'windows/v1',
  'hold/v1',
  'limits/v1',
  SEALED_FEATURE,
  RENDER_FEATURE,
  DECRYPT_FEATURE,
  TERMINAL_FEATURE,
  DELIVERY_FEATURE,
  PROJECTS_FEATURE,
  CHECKS_FEATURE,
  HANDOVER_FEATURE,
  HEALTH_FEATURE,
]

const FILE = { apiVersion: 'render.flotilla.dev/v1', kind: 'File' } as const

/** Signs a document; the digest of the returned bytes is what an Assignment names. */
export function signDocument(signer: Signer, document: ClusterDocument): Uint8Array {
  return signEnvelope(signer, PAYLOAD.document, utf8(canonicalJson(document)))
}

/**
 * The document of an envelope from the hub's own blob store, without a check of the signature; undefined if invalid.
 */
export function readTrustedDocument(envelope: Uint8Array): ClusterDocument | undefined {
  try {
    const limits = { what: 'document', maxBytes: LIMITS.documentBytes }
    return parseJson(ClusterDocumentSchema, unverifiedPayload(envelope, 2 * limits.maxBytes), limits)
  } catch (caught) {
    if (caught instanceof WireError) return undefined
    throw caught
  }
}

/** The document in an envelope signed by one of these keys, and the envelope's digest. */
export function openDocument(
  envelope: Uint8Array,
  signers: readonly TrustedKey[],
): { readonly document: ClusterDocument; readonly digest: Digest } {
  const { payload } = openEnvelope(envelope, PAYLOAD.document, signers)
  const document: ClusterDocument = parseJson(ClusterDocumentSchema, payload, {
    what: 'document',
    maxBytes: LIMITS.documentBytes,
  })
  refuseRepeated(
    document.content.entries.map((entry) => entry.bundle),
    'document names a bundle twice',
  )
  for (const { startBy, bundle } of document.content.entries) {
    if (startBy !== undefined && parseTime(startBy) === undefined) {
      throw new WireError('Malformed', `document's start-by of ${bundle} is not a time`)
    }
  }
  if (document.ancestors && document.ancestors[0] !== document.previous) {
    throw new WireError('Malformed', "document's ancestors do not begin with the one before it")
  }
  if (parseTime(document.issuedAt) === undefined) throw new WireError('Malformed', "document's issuedAt is not a time")
  return { document, digest: digestOf(envelope) }
}

/** Reads the bytes of a set; call it only with bytes whose digest was checked. */
export function parseObjectSet(bytes: Uint8Array): ObjectSet {
  const set: ObjectSet = parseJson(ObjectSetSchema, bytes, { what: 'set', maxBytes: LIMITS.blobBytes })
  // An option this version does not know must not be dropped in silence: what it asks for would not happen.
  const unknown = unknownField(BundleOptionsSchema, set.options ?? {}, 'options')
  if (unknown !== undefined) {
    throw new WireError('Malformed', `set's ${unknown} is not known to this version; upgrade the agent`)
  }
  refuseRepeated(
    set.objects.map(({ apiVersion, kind, namespace = '', name }) => `${apiVersion} ${kind} ${namespace}/${name}`),
    'set names an object twice',
  )
  const isFiles = set.format === 'flotilla.dev/set/v3'
  if (isFiles !== (set.render !== undefined) || set.objects.some((object) => isFile(object) !== isFiles)) {
    throw new WireError('Malformed', 'set is neither an inventory nor files with what to make of them')
  }
  return set
}

/** A file of a set that the agent renders. */
export function setFile(path: string, digest: Digest): SetObject {
  return { ...FILE, name: path, digest }
}

function isFile({ apiVersion, kind }: SetObject): boolean {
  return apiVersion === FILE.apiVersion && kind === FILE.kind
}

/** The format of a set: one without hooks is what it was before there were hooks. */
export function setFormat(objects: readonly SetObject[]): ObjectSet['format'] {
  return objects.some(({ hook }) => hook !== undefined) ? 'flotilla.dev/set/v2' : 'flotilla.dev/set/v1'
}

/** The bytes of a set: canonical, so that equal sets have one digest. */
export function objectSetBytes(set: ObjectSet): Uint8Array {
  return utf8(canonicalJson(set))
}

/** Throws unless the bytes have the expected digest. */
export function checkDigest(bytes: Uint8Array, promised: Digest, what: string): void {
  const digest = digestOf(bytes)
  if (digest !== promised) throw new WireError('WrongDigest', `${what} has digest ${digest}, expected ${promised}`)
}

function unknownField(schema: TSchema, value: unknown, at: string): string | undefined {
  const { properties, items, additionalProperties } = schema as {
    readonly properties?: Readonly<Record<string, TSchema>>
    readonly items?: TSchema
    readonly additionalProperties?: unknown
  }
  if (Array.isArray(value)) {
    return items && firstOf(value.entries(), ([index, item]) => unknownField(items, item, `${at}[${index}]`))
  }
  if (!isObject(value) || additionalProperties !== undefined) return undefined
  return firstOf(Object.entries(value), ([name, inner]) => {
    const known = properties && Object.hasOwn(properties, name) ? properties[name] : undefined
    return known ? unknownField(known, inner, `${at}.${name}`) : `${at}.${name}`
  })
}

function firstOf<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function refuseRepeated(names: readonly string[], problem: string): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw new WireError('Malformed', `${problem}: ${name}`)
    seen.add(name)
  }
}
