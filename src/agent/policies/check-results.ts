// Tested by src/agent/policies/policies.contract.test.ts
/**
 * The result of one evaluation: the state of a check, and the objects that violate it. Loaded with the first check,
 * because few clusters have one.
 */
import { compact } from '../../core/compact.ts'
import { formatTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { readConfigurationPolicy } from '../../plan/policy/configuration-policy.ts'
import type { RelatedObject } from '../../plan/policy/configuration-policy.ts'
import { evaluateCertificates } from '../../plan/policy/evaluate-certificates.ts'
import { evaluatePolicy } from '../../plan/policy/evaluate-policy.ts'
import { goValue } from '../../plan/policy/go-value.ts'
import type { GoObject } from '../../plan/policy/go-value.ts'
import { policyTools } from '../../plan/policy/policy-tools.ts'
import type { TemplateEngine } from '../../plan/policy/policy-tools.ts'
import type { TemplateObjects } from '../../render/policy-template/cluster-lookup.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import type { ReplayedCluster } from './replay.ts'

/** What an evaluation says about a check. */
export interface CheckResult {
  readonly state: ReportedCheck['state']
  readonly message?: string
  /** Objects that violate the check, without times. */
  readonly violations: readonly Violation[]
  /** The objects of a ConfigurationPolicy, for its next evaluation. */
  readonly related?: readonly RelatedObject[]
}

/** An object that violates a check. */
export type Violation = Omit<NonNullable<ReportedCheck['objects']>[number], 'since'>

/** Ports of an evaluation. */
export interface EvaluationPorts {
  /** Creates Go's templates over objects. */
  readonly templates: (objects: TemplateObjects) => TemplateEngine
  readonly matches: (pattern: string, text: string) => boolean | undefined
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Evaluates a check once. */
export function evaluateCheck(
  check: UnknownObject,
  { cluster, objects }: ReplayedCluster,
  before: readonly RelatedObject[],
  ports: EvaluationPorts,
): CheckResult {
  const policy = goValue(check) as GoObject
  if (check.kind === 'CertificatePolicy') {
    const result = evaluateCertificates({ policy, cluster, now: ports.nowMs, matches: ports.matches })
    if ('problem' in result) return { state: 'Unknown', message: result.problem, violations: [] }
    const violations = result.findings.map(({ namespace, secret, expires, isExpiring, isTooLong }) => ({
      object: `Secret ${namespace}/${secret}`,
      reason: `${isExpiring ? 'the certificate expires' : isTooLong ? 'the certificate lasts too long and expires' : 'a DNS name is not allowed; the certificate expires'} at ${expires}`,
    }))
    return { state: result.compliant ? 'Compliant' : 'NonCompliant', message: result.message.trim(), violations }
  }
  const read = readConfigurationPolicy(policy)
  const { status, errors } = evaluatePolicy({
    policy: read,
    cluster,
    tools: policyTools(ports.templates(objects)),
    before,
    time: formatTime(ports.nowMs),
  })
  const related = status.relatedObjects ?? []
  const state = status.compliant === 'Compliant' || status.compliant === 'NonCompliant' ? status.compliant : 'Unknown'
  const message = status.history?.[0]?.message ?? errors[0]
  const violations = related
    .filter(({ compliant }) => compliant === 'NonCompliant')
    .map(({ object, reason, properties }): Violation => {
      const { kind, metadata } = object
      const where = metadata.namespace === undefined || metadata.namespace === '' ? '' : `${metadata.namespace}/`
      const difference = properties?.diff === '' ? undefined : properties?.diff
      return { object: `${kind} ${where}${metadata.name}`, ...compact({ reason, difference }) }
    })
  return { state, violations, related, ...compact({ message }) }
}
