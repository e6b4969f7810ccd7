/** The messages between agent and gateway: routes, requests, answers and the frames of a follow stream. */
import type { Static } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import {
  REPORTED_FIELDS,
  ReportedBundle,
  ReportedCapacity as ReportedCapacityFields,
  ReportedCheck as ReportedCheckFields,
  ReportedFeedback as ReportedFeedbackFields,
  ReportedHandover as ReportedHandoverFields,
  ReportedLog as ReportedLogFields,
  ReportedRefusal,
  ReportedRemoval,
  ReportedResults as ReportedResultsFields,
  ReportedValues as ReportedValuesFields,
  SEALED_VALUES_CHARS,
  X25519_KEY,
} from '../../kinds/fields/report.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import { LIMITS } from '../limits.ts'
import { parseJson } from '../validate.ts'
import { TIME_PATTERN, wireProperties, wireSchema } from '../wire-schema.ts'

/** All paths of the gateway. */
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

/** Header of every request: the instance, a random text of each start of an agent. See agent-instances.ts. */
export const INSTANCE_HEADER = 'flotilla-instance'

/** Header of an answer that is a delta: the digest of its base. */
export const BASE_HEADER = 'flotilla-base'

const strict = { additionalProperties: false }
const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
// The SPKI of these keys has one form: a fixed prefix and 32 bytes.
const Ed25519Key = Type.String({ pattern: '^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$' })
const X25519Key = Type.String({ pattern: X25519_KEY })
const ClusterName = Type.String({ maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })
const ClusterId = Type.String({ minLength: 1, maxLength: 64 })
const Csr = Type.String({ maxLength: 8192 })
// Terminals obey control characters.
const Version = Type.String({ maxLength: 64, pattern: '^[ -~]*$' })

/** The payload of an enrol request, signed by the identity key. */
export const EnrolRequest = Type.Object(
  {
    /** Digest of the hub's root key, so that another hub refuses the request. */
    root: DigestText,
    token: Type.Object({ name: Type.String({ maxLength: 253 }), secret: Type.String({ maxLength: 128 }) }, strict),
    /** Required with a token that has a name pattern. */
    clusterName: Type.Optional(ClusterName),
    identityKey: Ed25519Key,
    sealingKey: X25519Key,
    /** Present after the first answer. */
    clusterId: Type.Optional(ClusterId),
    /** PEM; the common name is the cluster id. */
    csr: Type.Optional(Csr),
    agentVersion: Version,
  },
  strict,
)
export type EnrolRequest = Static<typeof EnrolRequest>

/** The answer to an enrol request. */
export const EnrolAnswer = Type.Object({
  state: Type.Union([Type.Literal('Pending'), Type.Literal('Accepted')]),
  clusterId: ClusterId,
  clusterName: Type.String({ maxLength: 253 }),
  /** PEM; present if the cluster is accepted and the request had a `csr`. */
  certificate: Type.Optional(Type.String({ maxLength: 8192 })),
  /** Time after which the agent asks again. */
  retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
})
export type EnrolAnswer = Static<typeof EnrolAnswer>

/** The payload of a renew request, signed by the identity key. Needs no valid certificate. */
export const RenewRequest = Type.Object(
  {
    root: DigestText,
    clusterId: ClusterId,
    csr: Csr,
    /** A new sealing key. If omitted, the hub keeps the present one. */
    sealingKey: Type.Optional(X25519Key),
  },
  strict,
)
export type RenewRequest = Static<typeof RenewRequest>

export const RenewAnswer = Type.Object({ certificate: Type.String({ maxLength: 8192 }) })
export type RenewAnswer = Static<typeof RenewAnswer>

/**
 * The payload of a request for the last document, signed by the identity key: a decommissioned cluster receives no
 * new certificate.
 */
export const LastRequest = Type.Object({ root: DigestText, clusterId: ClusterId }, strict)
export type LastRequest = Static<typeof LastRequest>

/** The root key, and the versions of the trust bundle after the requested one, oldest first. */
export const TrustAnswer = Type.Object({
  /** SPKI, base64. */
  root: Ed25519Key,
  /** Envelopes, base64. */
  bundles: Type.Array(Type.String({ maxLength: 512 * 1024 }), { maxItems: LIMITS.trustVersions }),
})
export type TrustAnswer = Static<typeof TrustAnswer>

/** The head of the cluster's newest document. */
export const HeadFrame = Type.Object({
  type: Type.Literal('head'),
  epoch: Type.Integer({ minimum: 1 }),
  revision: Type.Integer({ minimum: 1 }),
  document: DigestText,
})
export type HeadFrame = Static<typeof HeadFrame>

/** A sign of life of the stream; `at` is the hub's time. */
export const BeatFrame = Type.Object({
  type: Type.Literal('beat'),
  at: Type.String({ maxLength: 40 }),
  trustVersion: Type.Integer({ minimum: 1 }),
  /** Interval at which the agent checks in. */
  checkInSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
})
export type BeatFrame = Static<typeof BeatFrame>

/** A line of a follow stream. */
export const Frame = Type.Union([HeadFrame, BeatFrame])
export type Frame = Static<typeof Frame>

/** States that an agent can report; `Offline` and `NotSelected` are the hub's. */
const REPORTED_STATES = BUNDLE_STATES.filter((state) => state !== 'Offline' && state !== 'NotSelected')

/** The state of a bundle on the cluster; declared in `kinds/fields/report.ts`. */
export const ReportRow = Type.Object(
  {
    ...wireProperties(ReportedBundle.properties),
    state: Type.Unsafe<(typeof BUNDLE_STATES)[number]>({ type: 'string', enum: REPORTED_STATES }),
  },
  strict,
)
export type ReportRow = Static<typeof ReportRow>

/** The state of the removal of a bundle; `Removed` and `Orphaned` are receipts. */
export const RemovalRow = Type.Object(
  { ...wireProperties(ReportedRemoval.properties), generation: Type.Integer({ minimum: 1 }) },
  strict,
)
export type RemovalRow = Static<typeof RemovalRow>

/** Observations of the objects of an entry. */
export const ReportedFeedback = wireSchema(ReportedFeedbackFields)
export type ReportedFeedback = Static<typeof ReportedFeedback>

/** The result of a check. */
export const ReportedCheck = wireSchema(ReportedCheckFields)
export type ReportedCheck = Static<typeof ReportedCheck>

/** The results of the policy engines of the cluster. */
export const ReportedResults = wireSchema(ReportedResultsFields)
export type ReportedResults = Static<typeof ReportedResults>

/** Free resources of the cluster; untrusted. */
export const ReportedCapacity = wireSchema(ReportedCapacityFields)
export type ReportedCapacity = Static<typeof ReportedCapacity>

/** A fact that the agent reports about its cluster; untrusted. */
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

/** Why the agent does not follow the newest document. */
export const Refusal = Type.Object(
  {
    ...wireProperties(ReportedRefusal.properties),
    /** For programs, for example `Equivocation` or `BadSignature`. */
    reason: Type.String({ pattern: '^[A-Z][A-Za-z]{0,63}$' }),
  },
  strict,
)
export type Refusal = Static<typeof Refusal>

/** The newest lines of the agent's own log, sent only on request. */
export const ReportedLog = wireSchema(ReportedLogFields)
export type ReportedLog = Static<typeof ReportedLog>

/** Values of drifted fields, sealed to the key of the request that they answer. Longer than other texts of a report. */
export const ReportedValues = Type.Object(
  {
    ...wireProperties(ReportedValuesFields.properties),
    sealed: Type.String({ maxLength: SEALED_VALUES_CHARS, pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
  },
  strict,
)
export type ReportedValues = Static<typeof ReportedValues>

/** A request for the values of drifted fields. */
export const ValuesRequest = Type.Object({
  asked: Type.String({ maxLength: 40, pattern: TIME_PATTERN }),
  bundle: wireSchema(ReportedValuesFields.properties.bundle),
  /** Public key that the values are sealed to, SPKI in base64. */
  key: X25519Key,
})
export type ValuesRequest = Static<typeof ValuesRequest>

/** How far the agent is with a step of a handover. */
export const ReportedHandover = wireSchema(ReportedHandoverFields)
export type ReportedHandover = Static<typeof ReportedHandover>

/**
 * A report: all that an agent tells the hub about its cluster. `epoch` and `revision` are 0 without a
 * document. Without `claims`, the hub keeps the claims that it has.
 *
 *     { epoch: 1, revision: 7, document: 'sha256:…', agentVersion: '0.1.0', bundles: [{ bundle: 'default/shop', … }]
 * }
 */
export const Report = Type.Object(
  {
    ...wireProperties(REPORTED_FIELDS),
    values: Type.Optional(ReportedValues),
    kubernetesVersion: Type.Optional(Version),
    agentVersion: Version,
    claims: Type.Optional(Type.Array(Claim, { maxItems: LIMITS.claims })),
    refusal: Type.Optional(Refusal),
    bundles: Type.Array(ReportRow, { maxItems: LIMITS.bundles }),
    removals: Type.Optional(Type.Array(RemovalRow, { maxItems: LIMITS.bundles })),
  },
  strict,
)
export type Report = Static<typeof Report>

/** The answer to a report. Hubs of version 0.1 answer with an empty object. */
export const ReportAnswer = Type.Object({
  /** True if the report and its statement are durable in the hub's journal. */
  kept: Type.Optional(Type.Boolean()),
})
export type ReportAnswer = Static<typeof ReportAnswer>

/** A sign of life of the agent, with the digest of its newest report. */
export const CheckIn = Type.Object({ report: DigestText }, strict)
export type CheckIn = Static<typeof CheckIn>

/** `Wanted`: the gateway does not have this report, and the agent sends it. */
export const CheckInAnswer = Type.Object({
  report: Type.Union([Type.Literal('Known'), Type.Literal('Wanted')]),
  /**
   * A user requested the agent's log: the agent sends its newest lines with the report, and this time beside them.
   */
  log: Type.Optional(Type.String({ maxLength: 40, pattern: TIME_PATTERN })),
  /** A user requested the values of drifted fields: the agent seals them, and sends them with the report. */
  values: Type.Optional(ValuesRequest),
  /** True if the report and its statement are durable in the hub's journal. */
  kept: Type.Optional(Type.Boolean()),
})
export type CheckInAnswer = Static<typeof CheckInAnswer>

/** The answer to a refused request; the reason is for programs. */
export const RefusalAnswer = Type.Object({ reason: Type.String(), message: Type.String() })
export type RefusalAnswer = Static<typeof RefusalAnswer>

export function frameLine(frame: Frame): Uint8Array {
  return utf8(`${JSON.stringify(frame)}\n`)
}

/** Reads one line of a follow stream; undefined for types of newer versions. */
export function parseFrame(line: string): Frame | undefined {
  const loose = Type.Object({ type: Type.String({ maxLength: 64 }) })
  const options = { what: 'frame', maxBytes: LIMITS.frameBytes }
  const { type } = parseJson(loose, utf8(line), options)
  return type === 'head' || type === 'beat' ? parseJson(Frame, utf8(line), options) : undefined
}
