/** What agent and gateway say to each other: routes, requests, answers and the frames of a follow stream. */
import type { Static } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { REMOVAL_STATES } from '../../kinds/native/cluster-report.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import { LIMITS } from '../limits.ts'
import { parseJson } from '../validate.ts'

/** Paths of the gateway; the only ones there are. */
export const ROUTES = {
  trust: '/agent/v1/trust',
  enrol: '/agent/v1/enrol',
  renew: '/agent/v1/renew',
  last: '/agent/v1/last',
  follow: '/agent/v1/follow',
  document: '/agent/v1/document',
  blob: '/agent/v1/blob/',
  set: '/agent/v1/set/',
  report: '/agent/v1/report',
  checkIn: '/agent/v1/check-in',
  held: '/agent/v1/held',
  agentBundle: '/agent/v1/agent-bundle/',
} as const

/** Every request of an agent says which start of it speaks; two at once are a copy (agent-instances.ts). */
export const INSTANCE_HEADER = 'flotilla-instance'

/** On an answer that is a difference: the digest of its base. */
export const BASE_HEADER = 'flotilla-base'

const strict = { additionalProperties: false }
const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
// SPKI of these two kinds of keys has one form only: a fixed head and 32 bytes.
const Ed25519Key = Type.String({ pattern: '^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$' })
const X25519Key = Type.String({ pattern: '^MCowBQYDK2VuAyEA[A-Za-z0-9+/]{43}=$' })
const ClusterName = Type.String({ maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })
const ClusterId = Type.String({ minLength: 1, maxLength: 64 })
const Csr = Type.String({ maxLength: 8192 })
const Version = Type.String({ maxLength: 64 })

/** The payload of an enrol envelope, which the identity key signs. */
export const EnrolRequest = Type.Object(
  {
    /** The hub this request is for, so that it means nothing to another one. */
    root: DigestText,
    token: Type.Object({ name: Type.String({ maxLength: 253 }), secret: Type.String({ maxLength: 128 }) }, strict),
    /** Needed with tokens for a pattern of names. */
    clusterName: Type.Optional(ClusterName),
    identityKey: Ed25519Key,
    sealingKey: X25519Key,
    /** Known after the first answer. */
    clusterId: Type.Optional(ClusterId),
    /** PEM; its common name is the cluster id. */
    csr: Type.Optional(Csr),
    agentVersion: Version,
  },
  strict,
)
export type EnrolRequest = Static<typeof EnrolRequest>

/** What became of an enrolment. */
export const EnrolAnswer = Type.Object({
  state: Type.Union([Type.Literal('Pending'), Type.Literal('Accepted')]),
  clusterId: ClusterId,
  clusterName: Type.String({ maxLength: 253 }),
  /** PEM; present when accepted and a request was sent. */
  certificate: Type.Optional(Type.String({ maxLength: 8192 })),
  /** When to ask again. */
  retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
})
export type EnrolAnswer = Static<typeof EnrolAnswer>

/** The payload of a renew envelope, which the identity key signs; good with an expired certificate or none. */
export const RenewRequest = Type.Object(
  {
    root: DigestText,
    clusterId: ClusterId,
    csr: Csr,
    /** The key secret values are to be sealed to from now on; the hub's stays without it. */
    sealingKey: Type.Optional(X25519Key),
  },
  strict,
)
export type RenewRequest = Static<typeof RenewRequest>

/** A fresh certificate. */
export const RenewAnswer = Type.Object({ certificate: Type.String({ maxLength: 8192 }) })
export type RenewAnswer = Static<typeof RenewAnswer>

/** The payload of an envelope that asks for a cluster's last document, which the identity key signs: for who gets no certificate any more. */
export const LastRequest = Type.Object({ root: DigestText, clusterId: ClusterId }, strict)
export type LastRequest = Static<typeof LastRequest>

/** The root's key and the versions of the trust bundle after the one asked for, oldest first. */
export const TrustAnswer = Type.Object({
  /** SPKI, base64. */
  root: Ed25519Key,
  /** Envelopes, base64. */
  bundles: Type.Array(Type.String({ maxLength: 512 * 1024 }), { maxItems: LIMITS.trustVersions }),
})
export type TrustAnswer = Static<typeof TrustAnswer>

/** The newest document of the cluster. */
export const HeadFrame = Type.Object({
  type: Type.Literal('head'),
  epoch: Type.Integer({ minimum: 1 }),
  revision: Type.Integer({ minimum: 1 }),
  document: DigestText,
})
export type HeadFrame = Static<typeof HeadFrame>

/** The stream lives; `at` is the hub's time. */
export const BeatFrame = Type.Object({
  type: Type.Literal('beat'),
  at: Type.String({ maxLength: 40 }),
  trustVersion: Type.Integer({ minimum: 1 }),
  /** How often the agent should check in. */
  checkInSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
})
export type BeatFrame = Static<typeof BeatFrame>

/** One line of a follow stream. */
export const Frame = Type.Union([HeadFrame, BeatFrame])
export type Frame = Static<typeof Frame>

/** How one bundle does on the cluster, in the words of design part 5. */
export const ReportRow = Type.Object(
  {
    bundle: Type.String({ maxLength: 317, pattern: '^[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*$' }),
    generation: Type.Integer({ minimum: 0 }),
    set: DigestText,
    state: Type.Unsafe<(typeof BUNDLE_STATES)[number]>({
      type: 'string',
      enum: BUNDLE_STATES.filter((state) => state !== 'Offline' && state !== 'NotSelected'),
    }),
    /** Which of the tries that somebody asked for this is about. */
    attempt: Type.Optional(Type.Integer({ minimum: 0 })),
    message: Type.Optional(Type.String({ maxLength: LIMITS.messageChars })),
    firstFailing: Type.Optional(Type.String({ maxLength: LIMITS.messageChars })),
    /** Objects that somebody changed and that are not changed back; fields and who has them, never values. */
    drift: Type.Optional(
      Type.Array(
        Type.Object(
          {
            object: Type.String({ maxLength: LIMITS.messageChars }),
            fields: Type.Array(Type.String({ maxLength: LIMITS.messageChars }), { maxItems: LIMITS.rowDetails }),
            since: Type.String({ maxLength: 40 }),
          },
          strict,
        ),
        { maxItems: LIMITS.rowDetails },
      ),
    ),
    /** What the bundle asked to be told of its live objects. */
    feedback: Type.Optional(
      Type.Array(
        Type.Object(
          {
            object: Type.String({ maxLength: LIMITS.messageChars }),
            name: Type.String({ maxLength: 64 }),
            value: Type.String({ maxLength: LIMITS.messageChars }),
          },
          strict,
        ),
        { maxItems: LIMITS.rowDetails },
      ),
    ),
  },
  strict,
)
export type ReportRow = Static<typeof ReportRow>

/** How the removal of one bundle stands; `Removed` and `Orphaned` are receipts. */
export const RemovalRow = Type.Object(
  {
    bundle: Type.String({ maxLength: 317, pattern: '^[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*$' }),
    /** Of the tombstone. */
    generation: Type.Integer({ minimum: 1 }),
    state: Type.Unsafe<(typeof REMOVAL_STATES)[number]>({ type: 'string', enum: [...REMOVAL_STATES] }),
    message: Type.Optional(Type.String({ maxLength: LIMITS.messageChars })),
    deleted: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Objects left in place, each with why. */
    left: Type.Optional(Type.Array(Type.String({ maxLength: LIMITS.messageChars }), { maxItems: LIMITS.rowDetails })),
    leftTotal: Type.Optional(Type.Integer({ minimum: 0 })),
    at: Type.Optional(Type.String({ maxLength: 40, pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$' })),
  },
  strict,
)
export type RemovalRow = Static<typeof RemovalRow>

/** One thing a cluster says about itself; untrusted. */
export const Claim = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: LIMITS.claimNameChars,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$',
    }),
    value: Type.String({ maxLength: LIMITS.claimValueChars }),
  },
  strict,
)
export type Claim = Static<typeof Claim>

/** Why the newest document was not followed. */
export const Refusal = Type.Object(
  {
    /** For programs, such as `Equivocation` or `BadSignature`. */
    reason: Type.String({ pattern: '^[A-Z][A-Za-z]{0,63}$' }),
    message: Type.String({ maxLength: LIMITS.messageChars }),
    /** What was refused, as far as it could be read. */
    epoch: Type.Optional(Type.Integer({ minimum: 0 })),
    revision: Type.Optional(Type.Integer({ minimum: 0 })),
    document: Type.Optional(DigestText),
  },
  strict,
)
export type Refusal = Static<typeof Refusal>

/** When somebody asked for the log; the answer says it again. */
const LogAsked = Type.String({ maxLength: 40, pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$' })

/** The newest lines of the agent's own log, sent only when asked for. */
export const ReportedLog = Type.Object(
  {
    asked: LogAsked,
    lines: Type.Array(Type.String({ maxLength: LIMITS.logLineChars }), { maxItems: LIMITS.logLines }),
  },
  strict,
)
export type ReportedLog = Static<typeof ReportedLog>

/** All a cluster says about itself. */
export const Report = Type.Object(
  {
    /** The document held; 0 and 0 when there is none. */
    epoch: Type.Integer({ minimum: 0 }),
    revision: Type.Integer({ minimum: 0 }),
    document: Type.Optional(DigestText),
    kubernetesVersion: Type.Optional(Version),
    agentVersion: Version,
    /** Absent: nothing is known yet, and what the hub has stays. */
    claims: Type.Optional(Type.Array(Claim, { maxItems: LIMITS.claims })),
    bundles: Type.Array(ReportRow, { maxItems: LIMITS.bundles }),
    /** Bundles being removed, and the last ones that were. */
    removals: Type.Optional(Type.Array(RemovalRow, { maxItems: LIMITS.bundles })),
    /** Which life of the cluster this is, from 2: it was restored from a backup. */
    incarnation: Type.Optional(Type.Integer({ minimum: 2 })),
    /** Why the newest document was not accepted, when it was not. */
    refusal: Type.Optional(Refusal),
    log: Type.Optional(ReportedLog),
  },
  strict,
)
export type Report = Static<typeof Report>

/** "I am here, and my report is still the one with this digest." */
export const CheckIn = Type.Object({ report: DigestText }, strict)
export type CheckIn = Static<typeof CheckIn>

/** `Wanted`: the gateway does not know that report; send it whole. */
export const CheckInAnswer = Type.Object({
  report: Type.Union([Type.Literal('Known'), Type.Literal('Wanted')]),
  /** Somebody wants to read the agent's log: send its newest lines with the report, and this beside them. */
  log: Type.Optional(LogAsked),
})
export type CheckInAnswer = Static<typeof CheckInAnswer>

/** What a refused request is answered with; the reason is for programs. */
export const RefusalAnswer = Type.Object({ reason: Type.String(), message: Type.String() })
export type RefusalAnswer = Static<typeof RefusalAnswer>

/** One frame as a line. */
export function frameLine(frame: Frame): Uint8Array {
  return utf8(`${JSON.stringify(frame)}\n`)
}

/** Reads one line of a follow stream; types that this version does not know are undefined. */
export function parseFrame(line: string): Frame | undefined {
  const loose = Type.Object({ type: Type.String({ maxLength: 64 }) })
  const options = { what: 'frame', maxBytes: LIMITS.frameBytes }
  const { type } = parseJson(loose, utf8(line), options)
  return type === 'head' || type === 'beat' ? parseJson(Frame, utf8(line), options) : undefined
}
