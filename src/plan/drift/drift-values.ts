/**
 * Values of drifted fields on their way from an agent to the user who asked for them. The agent seals them to the key
 * of the request, so that the hub stores and serves only ciphertext: reading a ClusterReport does not reveal them.
 */
import { agree, base64, fromBase64, fromUtf8, publicKeyDer, publicKeyOf, publicKeyPem, utf8 } from '../../core/bytes.ts'
import type { KeyPair } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { openBox, sealBox } from '../../core/crypto/sealed-box.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
import type { Secret } from '../../core/secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Difference } from '../objects/differences.ts'
import { formatFieldPath } from '../objects/managed-fields.ts'
import { isSensitiveName } from '../objects/object-changes.ts'

/** A drifted field with both values as text. A value that is absent on one side is undefined there. */
export interface FieldValues {
  /** Path of the field, for example `.data.text`. */
  readonly field: string
  readonly delivered?: string
  readonly live?: string
  /** True if the agent does not send the values, because they are or can be secret. */
  readonly hidden?: true
}

/** A drifted object with the values of its fields. */
export interface ObjectValues {
  readonly object: string
  readonly fields: readonly FieldValues[]
}

/** The drifted objects of a bundle. */
export interface DriftValues {
  readonly objects: readonly ObjectValues[]
  /** Number of fields that did not fit. */
  readonly more?: number
}

/** The request that values answer. */
export interface DriftValuesContext {
  readonly clusterId: string
  /** `namespace/name`. */
  readonly bundle: string
  /** `spec.valuesAsked.at` of the Cluster. */
  readonly asked: string
}

/** Most bytes of values in an answer, as JSON. Sealed and in base64 twice, they fit into a report. */
const MOST_BYTES = 48 * 1024
const LONGEST_VALUE = 4_096
const HIDDEN = '(hidden)'

/** Both sides of a drifted object. */
export interface DriftedSides {
  readonly live: UnknownObject
  readonly wanted: UnknownObject
  /** Removes values that a rendering read in the cluster. */
  readonly redact?: ((text: string) => string) | undefined
}

/**
 * The values of a field that differs. Values of Secrets, and of fields that have a secret name on either side, are left
 * out: a list without keys is compared by index, so that one item can have two names.
 */
export function fieldValues(
  { place, ...values }: Difference,
  { live, wanted, redact = (text) => text }: DriftedSides,
): FieldValues {
  const path = formatFieldPath(live, place)
  const field = redact(path)
  const [first] = place
  const isSecret = live.kind === 'Secret' && (first === 'data' || first === 'stringData' || first === 'metadata')
  if (isSecret || [path, formatFieldPath(wanted, place)].some(isSensitiveName)) return { field, hidden: true }
  const shown = (value: unknown) => (value === undefined ? undefined : cut(redact(textOf(value))))
  return { field, ...compact({ delivered: shown(values.wanted), live: shown(values.live) }) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(masked(value), undefined, 2)
}

function cut(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`
}

/** A value without the parts that have secret names, also as `{ name, value }` of a container's environment. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (!isObject(value)) return value
  const { name: called } = value
  const isNamedSecret = typeof called === 'string' && isSensitiveName(called)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isHidden = isSensitiveName(name) || (isNamedSecret && name === 'value')
      return [name, isHidden ? HIDDEN : masked(inner)]
    }),
  )
}

/** As many values as an answer may have; the others are counted. */
export function boundDriftValues(objects: readonly ObjectValues[]): DriftValues {
  let bytes = MOST_BYTES
  let more = 0
  const kept = objects.map(({ object, fields }) => ({
    object,
    fields: fields.filter((one) => {
      const size = utf8(canonicalJson(one)).byteLength + 1
      if (size > bytes) {
        more += 1
        return false
      }
      bytes -= size
      return true
    }),
  }))
  return { objects: kept, ...compact({ more: more > 0 ? more : undefined }) }
}

function aboutAnswer({ clusterId, bundle, asked }: DriftValuesContext): string {
  return canonicalJson(['flotilla.dev/drift-values/v1', clusterId, bundle, asked])
}

/** Seals values to the key of a request (SPKI, base64). The ephemeral pair must be of this call alone. */
export function sealDriftValues(
  context: DriftValuesContext,
  recipient: string,
  values: DriftValues,
  pair: KeyPair,
): string {
  const ephemeral = base64(publicKeyDer(pair.publicKey))
  const secret = agree(pair.privateKey, publicKeyPem(fromBase64(recipient)))
  const plain = utf8(canonicalJson(values))
  const box = base64(sealBox(secret, { ephemeral, recipient }, aboutAnswer(context), plain))
  return base64(utf8(canonicalJson({ ephemeral, box })))
}

/** Opens values with the private key of the request (PKCS #8 PEM); throws if they were not sealed for this request. */
export function openDriftValues(context: DriftValuesContext, sealed: string, privateKey: Secret<string>): DriftValues {
  const { ephemeral = '', box = '' } = JSON.parse(fromUtf8(fromBase64(sealed))) as { ephemeral?: string; box?: string }
  const recipient = base64(publicKeyDer(publicKeyOf(privateKey.reveal())))
  const secret = agree(privateKey.reveal(), publicKeyPem(fromBase64(ephemeral)))
  return readDriftValues(fromUtf8(openBox(secret, { ephemeral, recipient }, aboutAnswer(context), fromBase64(box))))
}

/** Reads values that an agent sent. The agent is not trusted: what has another form is left out. */
export function readDriftValues(text: string): DriftValues {
  const json: unknown = JSON.parse(text)
  const { objects, more } = isObject(json) ? json : {}
  return {
    objects: partsOf(objects).map(({ object, fields }) => ({
      object: String(object),
      fields: partsOf(fields).map(({ field, delivered, live, hidden }) => ({
        field: String(field),
        ...(typeof delivered === 'string' && { delivered }),
        ...(typeof live === 'string' && { live }),
        ...(hidden === true && { hidden }),
      })),
    })),
    ...(typeof more === 'number' && { more }),
  }
}

function partsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
