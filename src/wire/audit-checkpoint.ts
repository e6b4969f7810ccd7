/**
 * Signed checkpoints of the audit chain. The chain has no key: a person who can write the database can write it anew. A
 * checkpoint is a place of the chain, signed with the key that signs documents, which is not in the database. The owner
 * of the data directory has this key: only a checkpoint or hash that is stored elsewhere proves the chain against the
 * owner.
 */
import { base64, fromBase64, fromUtf8, utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { toError } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { readWholeNumber } from '../core/read-number.ts'
import { Type } from '../core/schema/typebox.ts'
import { openEnvelope, PAYLOAD, signEnvelope } from './trust/envelope.ts'
import type { Signer, TrustedKey } from './trust/envelope.ts'
import { acceptTrust, verifyRoot, writePublicKey } from './trust/trust-bundle.ts'
import type { VerifiedTrust } from './trust/trust-bundle.ts'
import { parseJson } from './validate.ts'

/** A place of the chain. */
export interface AuditCheckpoint {
  readonly sequence: number
  readonly hash: string
  /** Time of the signature. */
  readonly time: string
}

const Checkpoint = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1 }),
    hash: Type.String({ minLength: 64, maxLength: 64 }),
    time: Type.String({ maxLength: 40 }),
  },
  { additionalProperties: false },
)

/** The ConfigMap that has the checkpoints of a hub. */
export const CHECKPOINTS = { namespace: 'flotilla-system', name: 'flotilla-audit-checkpoints' } as const
const PREFIX = 'checkpoint-'
const TRUST = 'trust.json'
/** The newest checkpoints that are kept. */
const MAX_KEPT = 100
const MAX_BYTES = 4096

/** The data of the ConfigMap with one more checkpoint, and the trust that verifies all of them. */
export function withCheckpoint(
  data: Readonly<Record<string, string>>,
  { sequence, hash, time }: AuditCheckpoint,
  trust: { readonly signer: Signer; readonly root: TrustedKey; readonly envelopes: readonly Uint8Array[] },
): Record<string, string> {
  const signed = fromUtf8(signEnvelope(trust.signer, PAYLOAD.audit, utf8(JSON.stringify({ sequence, hash, time }))))
  const all = { ...data, [`${PREFIX}${sequence}`]: signed }
  const kept = sequencesIn(all).slice(-MAX_KEPT)
  const envelopes = trust.envelopes.map((envelope) => base64(envelope))
  return {
    [TRUST]: JSON.stringify({ root: writePublicKey(trust.root.publicKey), envelopes }),
    ...Object.fromEntries(kept.map((at) => [`${PREFIX}${at}`, all[`${PREFIX}${at}`]!])),
  }
}

/** The highest sequence number that has a checkpoint; 0 without one. */
export function lastCheckpointed(data: Readonly<Record<string, string>>): number {
  return sequencesIn(data).at(-1) ?? 0
}

/** Checkpoints whose signatures lead to the root key, in the order of the chain, and why others do not. */
export interface VerifiedCheckpoints {
  readonly checkpoints: readonly AuditCheckpoint[]
  readonly problems: readonly string[]
}

/** Verifies the checkpoints of a ConfigMap; `root` is the id of the root key that the reader trusts. */
export function verifyCheckpoints(data: Readonly<Record<string, string>>, root: Digest): VerifiedCheckpoints {
  const problems: string[] = []
  let signers: readonly TrustedKey[] = []
  try {
    signers = signersOf(data[TRUST] ?? '', root)
  } catch (caught) {
    problems.push(`the trust of the checkpoints is not valid: ${toError(caught).message}`)
  }
  const checkpoints = sequencesIn(data).flatMap((sequence) => {
    try {
      const { payload } = openEnvelope(utf8(data[`${PREFIX}${sequence}`]!), PAYLOAD.audit, signers)
      const checkpoint = parseJson(Checkpoint, payload, { what: 'audit checkpoint', maxBytes: MAX_BYTES })
      if (checkpoint.sequence === sequence) return [checkpoint]
      problems.push(`checkpoint ${sequence} was signed for record ${checkpoint.sequence}`)
    } catch (caught) {
      problems.push(`checkpoint ${sequence}: ${toError(caught).message}`)
    }
    return []
  })
  return { checkpoints, problems }
}

function signersOf(text: string, pinned: Digest): TrustedKey[] {
  const value: unknown = JSON.parse(text)
  const { root, envelopes } = isObject(value) ? value : {}
  if (typeof root !== 'string' || !Array.isArray(envelopes)) throw new TypeError(`${TRUST} has no root and envelopes`)
  const key = verifyRoot(pinned, root)
  const signers: TrustedKey[] = []
  let held: VerifiedTrust | undefined
  for (const envelope of envelopes) {
    held = acceptTrust(key, held, fromBase64(String(envelope)))
    signers.push(...held.signers)
  }
  return signers
}

function sequencesIn(data: Readonly<Record<string, string>>): number[] {
  return Object.keys(data)
    .flatMap((key) => (key.startsWith(PREFIX) ? (readWholeNumber(key.slice(PREFIX.length)) ?? []) : []))
    .toSorted((a, b) => a - b)
}
