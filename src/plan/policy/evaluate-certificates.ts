/** Evaluates a CertificatePolicy: which certificates in Secrets expire soon, last too long or have other names. */
import { fromBase64 } from '../../core/bytes.ts'
import { DerError } from '../../core/crypto/der.ts'
import { parseCertificate } from '../../core/crypto/x509.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { formatTime } from '../../core/time/time.ts'
import { readNamespaceSelector } from './configuration-policy.ts'
import { fieldOf, isGoObject, textAt } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import type { PolicyCluster, PolicyResource } from './policy-ports.ts'
import { labelsOf } from './select-labels.ts'
import { selectNamespaces } from './select-namespaces.ts'

/** Certificates that expire within four weeks are told, unless the policy says otherwise. */
const DEFAULT_MINIMUM = '672h'

/** What a policy is evaluated with. */
export interface CertificateInput {
  readonly policy: GoObject
  readonly cluster: PolicyCluster
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether a regular expression finds something in a text; undefined if it is invalid. */
  readonly matches: (pattern: string, text: string) => boolean | undefined
}

/** A certificate that violates the policy. */
export interface CertificateFinding {
  readonly namespace: string
  /** The name of the certificate: a label of the Secret, else the name of the Secret. */
  readonly name: string
  readonly secret: string
  readonly isCa: boolean
  readonly expires: string
  readonly isExpiring: boolean
  readonly isTooLong: boolean
  readonly hasOtherNames: boolean
}

/** The result; `problem` says why the policy cannot be evaluated. */
export type CertificateResult =
  | {
      readonly compliant: boolean
      readonly message: string
      readonly findings: readonly CertificateFinding[]
      /** Secrets whose certificate cannot be read, as namespace/name; nothing is known of these. */
      readonly unreadable: readonly string[]
    }
  | { readonly problem: string }

interface Limits {
  readonly minimum: number
  readonly minimumCa: number | undefined
  readonly maximum: number | undefined
  readonly maximumCa: number | undefined
  readonly allowed: string
  readonly disallowed: string
}

const SECRETS: PolicyResource = { apiVersion: 'v1', kind: 'Secret', resource: 'secrets', namespaced: true }

/** Evaluates a policy once. */
export function evaluateCertificates(input: CertificateInput): CertificateResult {
  const spec = mapping(input.policy, 'spec')
  const limits = readLimits(spec, input.matches)
  if (typeof limits === 'string') return { problem: limits }
  const namespaceSelector = readNamespaceSelector(mapping(spec, 'namespaceSelector'))
  const selected = selectNamespaces({ policy: { namespaceSelector }, cluster: input.cluster })
  if ('error' in selected) return { problem: `spec.namespaceSelector: ${selected.error}` }
  const findings: CertificateFinding[] = []
  const unreadable: string[] = []
  for (const namespace of selected.names) {
    for (const secret of secretsOf(input.cluster, namespace, mapping(spec, 'labelSelector'))) {
      const found = judgeSecret(secret, { namespace, limits, input })
      if (found === 'unreadable') unreadable.push(`${namespace}/${textAt(secret, 'metadata', 'name')}`)
      else if (found) findings.push(found)
    }
  }
  const compliant = findings.length === 0
  const message = compliant
    ? `Compliant; ${selected.names.length === 0 ? 'No namespaces matched the namespace selector.' : 'All evaluated certificates are compliant'}`
    : `NonCompliant; ${violations(findings, limits)}`
  return { compliant, message, findings, unreadable }
}

function readLimits(spec: GoObject, matches: CertificateInput['matches']): Limits | string {
  const durations: Record<string, number | undefined> = {}
  for (const field of ['minimumDuration', 'minimumCADuration', 'maximumDuration', 'maximumCADuration']) {
    const text = textAt(spec, field)
    durations[field] = text === '' ? undefined : parseDuration(text)
    if (text !== '' && durations[field] === undefined) {
      return `spec.${field}: invalid duration ${JSON.stringify(text)}: use a duration such as 300h`
    }
  }
  for (const field of ['allowedSANPattern', 'disallowedSANPattern']) {
    const pattern = textAt(spec, field)
    if (pattern !== '' && matches(pattern, '') === undefined) {
      return `spec.${field}: invalid regular expression ${JSON.stringify(pattern)}`
    }
  }
  return {
    minimum: durations['minimumDuration'] ?? parseDuration(DEFAULT_MINIMUM)!,
    minimumCa: durations['minimumCADuration'],
    maximum: durations['maximumDuration'],
    maximumCa: durations['maximumCADuration'],
    allowed: textAt(spec, 'allowedSANPattern'),
    disallowed: textAt(spec, 'disallowedSANPattern'),
  }
}

function secretsOf(cluster: PolicyCluster, namespace: string, labels: GoObject): readonly GoObject[] {
  const wanted = Object.entries(labels)
  return cluster.list(SECRETS, namespace, (found) => wanted.every(([key, value]) => found[key] === value))
}

interface SecretInput {
  readonly namespace: string
  readonly limits: Limits
  readonly input: CertificateInput
}

/** What is wrong with the first certificate of a Secret; undefined if it has none, or nothing is wrong. */
function judgeSecret(
  secret: GoObject,
  { namespace, limits, input }: SecretInput,
): CertificateFinding | 'unreadable' | undefined {
  const labels = labelsOf(secret)
  const encoded = textAt(mapping(secret, 'data'), labels['certificate_key_name'] || 'tls.crt')
  if (encoded === '') return undefined
  const certificate = readCertificate(encoded)
  if (!certificate) return 'unreadable'
  const { isCa, notBefore, notAfter, sans } = certificate
  const minimum = isCa && limits.minimumCa !== undefined ? limits.minimumCa : limits.minimum
  const maximum = isCa && limits.maximumCa !== undefined ? limits.maximumCa : limits.maximum
  const isExpiring = notAfter - input.now < minimum
  const isTooLong = maximum !== undefined && notAfter - notBefore > maximum
  const names = sans.filter(isDnsName)
  const hasOtherNames =
    (limits.allowed !== '' && names.some((name) => input.matches(limits.allowed, name) === false)) ||
    (limits.disallowed !== '' && names.some((name) => input.matches(limits.disallowed, name) === true))
  if (!isExpiring && !isTooLong && !hasOtherNames) return undefined
  const own = textAt(secret, 'metadata', 'name')
  const name = labels['certificate-name'] || labels['certmanager.k8s.io/certificate-name'] || own
  const expires = formatTime(notAfter)
  return { namespace, name, secret: own, isCa, expires, isExpiring, isTooLong, hasOtherNames }
}

/** Addresses and URIs are no DNS names, and patterns are about these alone. */
function isDnsName(san: string): boolean {
  return !san.includes(':') && !/^[\d.]+$/.test(san)
}

function readCertificate(encoded: string): ReturnType<typeof parseCertificate> | undefined {
  try {
    return parseCertificate(new TextDecoder().decode(fromBase64(encoded)))
  } catch (caught) {
    if (caught instanceof DerError || caught instanceof SyntaxError || caught instanceof RangeError) return undefined
    throw caught
  }
}

/** In the words and with the spaces of the original. */
function violations(findings: readonly CertificateFinding[], limits: Limits): string {
  const patterns = [
    ...(limits.allowed === '' ? [] : [`Allowed: ${limits.allowed}`]),
    ...(limits.disallowed === '' ? [] : [` Disallowed: ${limits.disallowed}`]),
  ].join('')
  const parts: readonly [found: (one: CertificateFinding) => boolean, text: string][] = [
    [
      (one) => one.isExpiring && !isOwnCa(one, limits.minimumCa),
      `certificates expire in less than ${goDuration(limits.minimum)}`,
    ],
    [
      (one) => one.isExpiring && isOwnCa(one, limits.minimumCa),
      `CA certificates expire in less than ${goDuration(limits.minimumCa)}`,
    ],
    [
      (one) => one.isTooLong && !isOwnCa(one, limits.maximumCa),
      `certificates exceed the maximum duration of ${goDuration(limits.maximum)}`,
    ],
    [
      (one) => one.isTooLong && isOwnCa(one, limits.maximumCa),
      `CA certificates exceed the maximum duration of ${goDuration(limits.maximumCa)}`,
    ],
    [(one) => one.hasOtherNames, `certificates defined SAN entries do not match pattern ${patterns}`],
  ]
  return parts
    .map(([found, text], at) => {
      const told = findings.filter(found)
      if (told.length === 0) return ''
      return `${at === 0 ? '' : ' '}${told.length} ${text}: ${told.map(({ namespace, secret }) => `${namespace}:${secret}`).join(', ')}\n`
    })
    .join('')
}

/** Whether a CA certificate has a limit of its own. */
function isOwnCa({ isCa }: CertificateFinding, limit: number | undefined): boolean {
  return isCa && limit !== undefined
}

/** As Go prints a duration: `300h0m0s`. */
function goDuration(ms = 0): string {
  const seconds = ms / 1000
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (hours > 0) return `${hours}h${minutes}m${rest}s`
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`
}

function mapping(object: GoObject, key: string): GoObject {
  const value = fieldOf(object, key)
  return isGoObject(value) ? value : {}
}
