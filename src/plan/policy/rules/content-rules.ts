/** Rules on rendered content: ValidatingAdmissionPolicies whose bindings select the label of rendered objects. */
import type { ClusterInputs, Reads } from '../../../core/cluster-inputs.ts'
import { matchesReads } from '../../../core/cluster-inputs.ts'
import { compact } from '../../../core/compact.ts'
import { CelFailure } from '../../../cel/values.ts'
import type { LabelSelector } from '../../../core/text/label-selector.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../kinds/builtin/admission.ts'
import type { Override } from '../../../kinds/native/override.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { describeObject } from '../../objects/object-id.ts'
import { compilePolicy } from './compile-policy.ts'
import { factualCopy, readCluster, RENDERED_LABEL } from './content-facts.ts'
import type { ContentOrigin, ReadCluster } from './content-facts.ts'
import { kindsOf, knownVersions } from './content-kinds.ts'
import type { KindOf } from './content-kinds.ts'
import { evaluatePolicy, OVER_BUDGET } from './evaluate-rule.ts'
import type { CompiledValidatingPolicy } from './evaluate-rule.ts'
import { matchesResources } from './match.ts'
import { exceptionFor } from './rule-exceptions.ts'

/** What a rule does with an object that does not meet it; the strictest of the binding's actions. */
export type RuleAction = 'Deny' | 'Warn' | 'Audit'

/** A policy with a binding that selects rendered content. */
export interface ContentRule {
  readonly policy: CompiledValidatingPolicy
  readonly binding: ValidatingAdmissionPolicyBinding
  readonly action: RuleAction
  /** From the annotation that policies of Open Cluster Management have too. */
  readonly controls: readonly string[]
}

/** An object that does not meet a rule. */
export interface RuleFinding {
  readonly policy: string
  readonly action: RuleAction
  readonly controls: readonly string[]
  readonly object: UnknownObject
  /** The words of the rule, or the reason why the rule cannot be evaluated. */
  readonly message: string
  /** The Override that is an exception; the finding stops nothing. */
  readonly exception?: Override
}

/** The findings about content on clusters that have the same at what was read. */
export interface RuleVerdict {
  readonly reads: Reads
  readonly findings: readonly RuleFinding[]
}

const CONTROLS = 'policy.open-cluster-management.io/controls'
const STRICTEST: readonly RuleAction[] = ['Deny', 'Warn', 'Audit']
/** Limits the time that the rules of one content may take together. */
const CONTENT_BUDGET = 10_000_000
const CALLER = { user: 'system:flotilla:hub', groups: ['system:authenticated'] }
const PARAMETERS =
  'spec.paramKind is not supported for rendered content; write the values into the policy, or bind it without the label'

/** The rules on rendered content among all policies, in order of their names. */
export function contentRules(
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): readonly ContentRule[] {
  const byName = new Map(policies.map((policy) => [policy.metadata.name, policy]))
  return bindings
    .filter(({ spec }) => isForRendered(spec?.matchResources?.objectSelector))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((binding) => {
      const policy = byName.get(binding.spec?.policyName ?? '')
      const actions = binding.spec?.validationActions ?? ['Deny']
      const action = STRICTEST.find((one) => actions.includes(one))
      if (!policy || !action) return []
      return [{ policy: compiled(policy), binding, action, controls: controlsOf(policy) }]
    })
}

/** Whether only rendered objects can meet a selector. */
function isForRendered(selector: LabelSelector | undefined): boolean {
  return (
    selector?.matchLabels?.[RENDERED_LABEL] === 'true' ||
    (selector?.matchExpressions ?? []).some(
      ({ key, operator, values = [] }) =>
        key === RENDERED_LABEL && operator === 'In' && values.length > 0 && values.every((one) => one === 'true'),
    )
  )
}

function compiled(policy: ValidatingAdmissionPolicy): CompiledValidatingPolicy {
  if (policy.spec?.paramKind) return { policy, compiled: undefined, problem: PARAMETERS }
  const made = compilePolicy(policy)
  const [problem] = made.problems
  return problem
    ? { policy, compiled: undefined, problem: `${problem.field}: ${problem.detail}` }
    : { policy, compiled: made.compiled, problem: undefined }
}

function controlsOf({ metadata }: ValidatingAdmissionPolicy): readonly string[] {
  return (metadata.annotations?.[CONTROLS] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

/** Content of a Bundle and the rules about it. */
export interface ContentQuestion {
  readonly origin: ContentOrigin
  readonly objects: readonly UnknownObject[]
  readonly rules: readonly ContentRule[]
  /** Exceptions of the Bundle that are in force. */
  readonly exceptions: readonly Override[]
}

/** Evaluates all rules for a cluster. */
export function judgeContent(question: ContentQuestion, inputs: ClusterInputs): RuleVerdict {
  const cluster = readCluster(inputs)
  const { objects, rules, exceptions } = question
  const kindOf = kindsOf(objects)
  const namespaces = new Map(
    objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace').map(byName),
  )
  const budget = { left: CONTENT_BUDGET }
  const findings = objects.flatMap((object) => {
    const copy = factualCopy(object, question.origin, cluster)
    const asked = { object, copy, kindOf, namespaces, budget }
    return rules.flatMap((rule) => findingsOf(rule, asked).map((one) => excepted(one, exceptions, cluster)))
  })
  return { reads: cluster.reads(), findings }
}

/** Evaluates the rules once for all clusters with the same facts. Returns the clusters of each verdict. */
export function judgeForClusters(
  question: ContentQuestion,
  clusters: readonly ClusterInputs[],
): readonly (RuleVerdict & { readonly clusters: readonly ClusterInputs[] })[] {
  const verdicts: (RuleVerdict & { readonly clusters: ClusterInputs[] })[] = []
  for (const cluster of clusters) {
    const known = verdicts.find(({ reads }) => matchesReads(cluster, reads))
    if (known) known.clusters.push(cluster)
    else verdicts.push({ ...judgeContent(question, cluster), clusters: [cluster] })
  }
  return verdicts
}

function byName(object: UnknownObject): readonly [string, UnknownObject] {
  return [object.metadata.name, object]
}

interface Asked {
  readonly object: UnknownObject
  readonly copy: UnknownObject
  readonly kindOf: KindOf
  readonly namespaces: ReadonlyMap<string, UnknownObject>
  readonly budget: { left: number }
}

function findingsOf(rule: ContentRule, { object, copy, kindOf, namespaces, budget }: Asked): RuleFinding[] {
  const { policy, binding, action, controls } = rule
  const kind = kindOf(object)
  const request = {
    caller: CALLER,
    operation: 'CREATE' as const,
    kind,
    object: copy,
    oldObject: undefined,
    dryRun: false,
  }
  const namespace = namespaceFor(object, namespaces)
  const matched = { request, namespace, servedVersions: knownVersions }
  if (!matchesResources(policy.policy.spec?.matchConstraints, matched)) return []
  if (!matchesResources(binding.spec?.matchResources, matched)) return []
  const isFatal = policy.policy.spec?.failurePolicy !== 'Ignore'
  const say = (message: string): RuleFinding => ({
    policy: policy.policy.metadata.name,
    action,
    controls,
    object,
    message,
  })
  if (budget.left < 0) return isFatal ? [say(OVER_BUDGET)] : []
  const spend = (cost: number) => void (budget.left -= cost)
  const outcome = evaluatePolicy(policy, matched, { param: undefined, ask: refuseQuestion, spend })
  return (outcome?.failures ?? []).filter(({ isError }) => !isError || isFatal).map(({ message }) => say(message))
}

/** A Namespace of the content; of other namespaces only the name is known. */
function namespaceFor(
  { metadata }: UnknownObject,
  namespaces: ReadonlyMap<string, UnknownObject>,
): UnknownObject | undefined {
  const { namespace: name } = metadata
  if (name === undefined) return undefined
  const labels = { 'kubernetes.io/metadata.name': name }
  const known = namespaces.get(name)
  if (!known) return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  return { ...known, metadata: { ...known.metadata, labels: { ...known.metadata.labels, ...labels } } }
}

function refuseQuestion(): never {
  throw new CelFailure('authorizer is not available: rendered content has no caller')
}

function excepted(found: RuleFinding, exceptions: readonly Override[], cluster: ReadCluster): RuleFinding {
  const exception = exceptionFor(exceptions, found, cluster)
  return { ...found, ...compact({ exception }) }
}

/** The findings that stop the content. */
export function denialsOf(findings: readonly RuleFinding[]): readonly RuleFinding[] {
  return findings.filter(({ action, exception }) => action === 'Deny' && !exception)
}

/** `Deployment shop/web: no tag [policy no-latest]`, with the exception if there is one. */
export function describeFinding({ policy, object, message, exception }: RuleFinding): string {
  const { apiVersion, kind, metadata } = object
  const what = describeObject({
    apiVersion,
    kind,
    name: metadata.name,
    ...compact({ namespace: metadata.namespace }),
  })
  const until = exception
    ? `, excepted by Override ${exception.metadata.name} until ${exception.spec.expiresAt ?? ''}`
    : ''
  return `${what}: ${message} [policy ${policy}${until}]`
}
