/**
 * Secret values on their way to one cluster: a set names them by slot, the values travel beside it, sealed to that
 * cluster's key.
 *
 * Each slot is a box of core/crypto/sealed-box.ts between an ephemeral key and the cluster's key.
 *
 * The context is who may open it and where it belongs: cluster id, bundle, the values' identity, slot. A box that is
 * moved to another cluster, bundle, object or version of the values does not open.
 */
import type { Static } from 'typebox'
import { agree, base64, fromBase64, publicKeyOf, utf8 } from '../../core/bytes.ts'
import type { KeyPair } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { openBox, sealBox } from '../../core/crypto/sealed-box.ts'
import { canonicalJson } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { SetObject } from './cluster-document.ts'
import { keyIdOf } from '../trust/envelope.ts'
import { LIMITS } from '../limits.ts'
import { readPublicKey, writePublicKey } from '../trust/trust-bundle.ts'
import { parseJson, WireError } from '../validate.ts'

/** What an agent must have to follow a document whose content has sealed values. */
export const SEALED_FEATURE = 'sealed/v1'

/** Whose values these are. */
export interface SealedContext {
  readonly clusterId: string
  /** `namespace/name`. */
  readonly bundle: string
  /** `ObjectSet.values`. */
  readonly values: Digest
}

const SealedSchema = Type.Object({
  format: Type.Literal('flotilla.dev/sealed/v1'),
  /** The digest of the cluster's public key. */
  key: Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' }),
  /** SPKI, base64. */
  ephemeral: Type.String({ pattern: '^MCowBQYDK2VuAyEA[A-Za-z0-9+/]{43}=$' }),
  /** By slot. */
  boxes: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
})
type Sealed = Static<typeof SealedSchema>

/** The name of a sealing key (SPKI, base64) as sealed values carry it. */
export function sealingKeyId(sealingKey: string): Digest {
  return keyIdOf(readPublicKey(sealingKey))
}

/** The slot of an object: its name within a cluster. */
export function sealedValueKey({ apiVersion, kind, namespace, name }: Omit<SetObject, 'digest'>): string {
  return `${apiVersion} ${kind} ${namespace ? `${namespace}/` : ''}${name}`
}

/**
 * Seals values, by slot, to a cluster's key (SPKI, base64). The ephemeral pair must be of this call alone, or of
 * these very inputs.
 */
export function sealValues(
  context: SealedContext,
  sealingKey: string,
  slots: ReadonlyMap<string, Secret<Uint8Array>>,
  ephemeral: KeyPair,
): Uint8Array {
  const recipient = readPublicKey(sealingKey)
  const shared = agree(ephemeral.privateKey, recipient)
  const keys = { ephemeral: writePublicKey(ephemeral.publicKey), recipient: sealingKey }
  const boxes = [...slots].map(([slot, value]) => {
    const about = aboutSlot(context, slot)
    return [slot, base64(sealBox(shared, keys, about, value.reveal()))] as const
  })
  const sealed: Sealed = {
    format: 'flotilla.dev/sealed/v1',
    key: keyIdOf(recipient),
    ephemeral: keys.ephemeral,
    boxes: Object.fromEntries(boxes),
  }
  return utf8(canonicalJson(sealed))
}

/** Reads sealed values without opening any; call it only with bytes whose digest was checked. */
export function parseSealed(bytes: Uint8Array): Sealed {
  return parseJson(SealedSchema, bytes, { what: 'sealed values', maxBytes: LIMITS.blobBytes })
}

/** Opens one slot with whichever of the keys (PKCS #8 PEM) it was sealed to. */
export function openSealedValue(
  sealed: Sealed,
  context: SealedContext,
  slot: string,
  keys: readonly Secret<string>[],
): Secret<Uint8Array> {
  const box = Object.hasOwn(sealed.boxes, slot) ? sealed.boxes[slot] : undefined
  if (box === undefined) throw new WireError('Malformed', `sealed values have none for ${slot}`)
  const key = keys.find((candidate) => keyIdOf(publicKeyOf(candidate.reveal())) === sealed.key)
  if (!key) {
    const why = `the values for ${slot} are sealed to key ${sealed.key}, which this agent does not have`
    throw new WireError('UnknownSigner', `${why}; the hub seals them again when it has heard of its present key`)
  }
  const about = aboutSlot(context, slot)
  try {
    const shared = agree(key.reveal(), readPublicKey(sealed.ephemeral))
    const recipient = writePublicKey(publicKeyOf(key.reveal()))
    return new Secret(openBox(shared, { ephemeral: sealed.ephemeral, recipient }, about, fromBase64(box)))
  } catch (caught) {
    if (caught instanceof WireError) throw caught
    throw new WireError(
      'BadSignature',
      `the values for ${slot} do not open: they were made for another place, or changed`,
    )
  }
}

function aboutSlot({ clusterId, bundle, values }: SealedContext, slot: string): string {
  return canonicalJson(['flotilla.dev/sealed/v1', clusterId, bundle, values, slot])
}
