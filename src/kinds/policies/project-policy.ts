// Tested by src/hub/home/project-policies.contract.test.ts
/**
 * Policies for both homes: what a Project and one object can tell. Each Project is a parameter; the match condition
 * leaves the Project of the object's namespace. plan/projects decides the same, and more, when the object is used. A
 * namespace without a Project, or with two, is not refused here: the condition of the object says so.
 */
import { Bundle } from '../native/bundle.ts'
import { ClusterSetBinding } from '../native/cluster-set-binding.ts'
import { Placement } from '../native/placement.ts'
import { TICKET_ANNOTATION } from '../fields/project-names.ts'
import { Project } from '../native/project.ts'
import { Source } from '../native/source.ts'
import { shippedPolicy, shippedPolicyBinding } from './shipped-policy.ts'
import type { ShippedPolicy } from './shipped-policy.ts'

const list = (field: string) => `(has(params.spec.${field}) ? params.spec.${field} : [])`
const line = (words: string) => `'Project ' + params.metadata.name + ': ${words}`
const validation = (expression: string, messageExpression: string) => ({
  expression,
  messageExpression,
  reason: 'Forbidden' as const,
})

/** Objects that exist stay editable where the spec does not change: a finalizer must never wait for a Project. */
const CHANGES_THE_SPEC = 'oldObject == null || object.spec != oldObject.spec'

function projectPolicy(about: Pick<ShippedPolicy, 'name' | 'kind' | 'variables' | 'validations'>) {
  return shippedPolicy({
    ...about,
    operations: ['CREATE', 'UPDATE'],
    params: Project,
    matchConditions: [
      { name: 'is-in-the-project', expression: `request.namespace in ${list('namespaces')}` },
      { name: 'changes-the-spec', expression: CHANGES_THE_SPEC },
    ],
  })
}

/** A pattern as a regular expression: the schema of Project leaves `.` and `*` as special characters. */
const regex = (pattern: string, star: string) => `${pattern}.replace('.', '[.]').replace('*', '${star}')`
const leavesItsPath = String.raw`variables.address.matches('(^|[/:])\\.\\.?(/|$)|%|\\\\|\\?|#')`
const matchesPattern = `variables.address.matches('^' + (p.endsWith('/*') ? ${regex('p.substring(0, size(p) - 2)', '[^/]*')} + '/.*' : ${regex('p', '[^/]*')}) + '$')`

const SOURCES = projectPolicy({
  name: 'projects-sources.flotilla.dev',
  kind: Source,
  variables: [
    {
      name: 'address',
      expression:
        "has(object.spec.git) ? object.spec.git.url : has(object.spec.helm) ? object.spec.helm.url : has(object.spec.oci) ? object.spec.oci.url : has(object.spec.s3) ? object.spec.s3.url : has(object.spec.inline) ? 'inline' : ''",
    },
  ],
  validations: [
    validation(
      `${list('sources')}.exists(p, p == '*' || (${leavesItsPath} ? p == variables.address && !p.contains('*') : ${matchesPattern}))`,
      line(`spec.sources does not list ' + variables.address`),
    ),
  ],
})

const isAllowed = (executor: string) =>
  `(${executor} == variables.executor || variables.executors.exists(p, ${executor}.matches('^' + ${regex('p', '.*')} + '$')))`
const nameOf = (executor: string) => `(${executor}.namespace + '/' + ${executor}.name)`
const ticket = `object.metadata.annotations['${TICKET_ANNOTATION}']`
const annotated = `has(object.metadata.annotations) && '${TICKET_ANNOTATION}' in object.metadata.annotations`
const plan = 'has(object.spec.rollout) && has(object.spec.rollout.plan)'
const executors = (field: string) => `has(params.spec.executors) && has(params.spec.executors.${field})`

const BUNDLES = projectPolicy({
  name: 'projects-bundles.flotilla.dev',
  kind: Bundle,
  variables: [
    { name: 'sources', expression: list('sources') },
    { name: 'plans', expression: list('plans') },
    { name: 'executor', expression: `${executors('default')} ? params.spec.executors.default : ''` },
    { name: 'executors', expression: `${executors('allowed')} ? params.spec.executors.allowed : []` },
    { name: 'ownRights', expression: `${executors('ownRights')} && params.spec.executors.ownRights` },
  ],
  validations: [
    validation(
      "has(object.spec.source) || '*' in variables.sources || 'inline' in variables.sources",
      line(
        `spec.sources does not list inline, and the Bundle has spec.' + (has(object.spec.manifestsFrom) ? 'manifestsFrom' : 'manifests')`,
      ),
    ),
    validation(
      "has(object.spec.executor) || variables.ownRights || variables.executor != ''",
      line(
        `spec.executors.ownRights is not true and spec.executors.default is not set, so the Bundle must name spec.executor'`,
      ),
    ),
    validation(
      `!has(object.spec.executor) || ${isAllowed(nameOf('object.spec.executor'))}`,
      line(`spec.executors.allowed does not list ' + ${nameOf('object.spec.executor')}`),
    ),
    validation(
      `!has(object.spec.variants) || object.spec.variants.all(v, !has(v.options) || !has(v.options.executor) || ${isAllowed(nameOf('v.options.executor'))})`,
      line(`spec.executors.allowed does not list the executor of a variant'`),
    ),
    validation(
      `'*' in variables.plans || (${plan} ? object.spec.rollout.plan in variables.plans : size(variables.plans) == 0)`,
      `${plan} ? ${line(`spec.plans does not list ' + object.spec.rollout.plan`)} : ${line(`spec.plans lists ' + variables.plans.join(', ') + ', and the Bundle names no spec.rollout.plan'`)}`,
    ),
    validation(
      `${list('requiredLabels')}.all(key, has(object.metadata.labels) && key in object.metadata.labels)`,
      line(
        `spec.requiredLabels lists ' + ${list('requiredLabels')}.join(', ') + ', and the Bundle does not have all of these labels'`,
      ),
    ),
    validation(
      `!has(params.spec.ticket) || (${annotated} && ${ticket}.matches('^(?:' + params.spec.ticket.pattern + ')$'))`,
      line(
        `spec.ticket.pattern ' + params.spec.ticket.pattern + ' does not match the annotation ${TICKET_ANNOTATION} of the Bundle'`,
      ),
    ),
  ],
})

const sets = { name: 'sets', expression: list('clusterSets') }
const asked = '(has(object.spec.clusterSets) ? object.spec.clusterSets : [])'

const PLACEMENTS = projectPolicy({
  name: 'projects-placements.flotilla.dev',
  kind: Placement,
  variables: [sets],
  validations: [
    validation('size(variables.sets) > 0', line(`spec.clusterSets lists no ClusterSet'`)),
    validation(
      `'*' in variables.sets || size(variables.sets) == 0 || ${asked}.all(set, set in variables.sets)`,
      line(`spec.clusterSets does not list ' + ${asked}.filter(set, !(set in variables.sets)).join(', ')`),
    ),
  ],
})

const SET_BINDINGS = projectPolicy({
  name: 'projects-clustersetbindings.flotilla.dev',
  kind: ClusterSetBinding,
  variables: [sets],
  validations: [
    validation(
      "'*' in variables.sets || object.spec.clusterSet in variables.sets",
      line(`spec.clusterSets does not list ' + object.spec.clusterSet`),
    ),
  ],
})

/** All policies of Projects with their bindings. */
export const PROJECT_POLICIES = [SOURCES, BUNDLES, PLACEMENTS, SET_BINDINGS].map(
  (policy) => [policy, shippedPolicyBinding(policy)] as const,
)
