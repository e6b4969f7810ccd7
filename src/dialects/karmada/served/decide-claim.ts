// Tested by src/dialects/karmada/served/decide-claim.test.ts
/** Which policy claims a template now, and what the binding of the template says. Pure. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { admitPolicy } from '../admit/admit-policy.ts'
import { priorityOf } from '../match/choose-policy.ts'
import { interpretReplicas } from '../interpret/replicas.ts'
import { whyIgnored } from '../match/ignored-objects.ts'
import { PolicyClaims } from '../match/policy-claims.ts'
import type { PolicyObject } from '../match/policy-claims.ts'
import { replicasOf, withoutServerFields } from '../templates/revise-template.ts'
import type { Template } from '../templates/template-kinds.ts'
import { ClusterResourceBinding, ResourceBinding } from './kinds.ts'
import type { ServedBinding, ServedPropagation } from './kinds.ts'

const PP = 'propagationpolicy.karmada.io'
const CPP = 'clusterpropagationpolicy.karmada.io'
/** Annotation of a binding with the template that a lazy policy has activated. */
const ACTIVATED = 'karmada.flotilla.dev/activated-template'
/** Annotation of a policy: the time after which replicas return to a cluster that is back, for example `10m`. */
export const FAIL_BACK = 'karmada.flotilla.dev/fail-back-after'
const MAX_NAME = 253

/** A policy as decisions read it, or why it claims nothing. */
export type ReadPolicy = { readonly policy: ServedPropagation } | { readonly problem: string }

/** A policy with Karmada's defaults; the permanent id is its uid. */
export function readPolicy(policy: ServedPropagation): ReadPolicy {
  const { kind, metadata, spec } = policy
  if ((spec.schedulerName ?? DEFAULT_SCHEDULER) !== DEFAULT_SCHEDULER) {
    return { problem: `spec.schedulerName: only ${DEFAULT_SCHEDULER} is served` }
  }
  const failBack = metadata.annotations?.[FAIL_BACK]
  if (failBack !== undefined && parseDuration(failBack) === undefined) {
    return { problem: `metadata.annotations[${FAIL_BACK}]: must be a duration, for example 10m` }
  }
  const labels = { ...metadata.labels, [`${kind === 'PropagationPolicy' ? PP : CPP}/permanent-id`]: metadata.uid ?? '' }
  const object = { ...policy, metadata: { ...metadata, labels } }
  const admitted = admitPolicy({
    object,
    old: object,
    newId: () => metadata.uid ?? '',
  })
  return 'error' in admitted ? { problem: admitted.error } : { policy: admitted.object as unknown as ServedPropagation }
}

const DEFAULT_SCHEDULER = 'default-scheduler'

/** The name of the binding of an object, as Karmada has it. */
export function bindingName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  const whole = `${name}-${kind.toLowerCase()}`.replaceAll(':', '.')
  if (whole.length <= MAX_NAME) return whole
  return `${whole.slice(0, MAX_NAME - 13).replace(/[^a-z0-9]+$/, '')}-${digestOfJson(whole).slice(7, 19)}`
}

/** Whether an object is never a template: objects of the system, and those that each cluster makes itself. */
export function isIgnored(template: Template): boolean {
  if (whyIgnored(template)) return true
  const { kind, metadata } = template
  if ((metadata.namespace ?? '').startsWith('flotilla-')) return true
  if (metadata.labels?.['flotilla.dev/bundle-secret'] !== undefined) return true
  if (kind === 'ConfigMap') return metadata.name === 'kube-root-ca.crt'
  if (kind === 'ServiceAccount') return metadata.name === 'default'
  if (kind === 'Service') return metadata.namespace === 'default' && metadata.name === 'kubernetes'
  return kind === 'Secret' && template['type'] === 'kubernetes.io/service-account-token'
}

/** What a claim is decided from. */
export interface ClaimFacts {
  readonly template: Template
  /** The binding that the template has. */
  readonly binding: ServedBinding | undefined
  /** Policies that are valid, with defaults. */
  readonly policies: readonly ServedPropagation[]
  /** Policies that are not valid and have never been seen valid. */
  readonly invalid?: readonly ServedPropagation[]
  /** Names of override policies, on which policies can depend. */
  readonly overrides: readonly PolicyObject[]
  /** Bindings of workloads that the object follows to their clusters. */
  readonly requiredBy?: NonNullable<ServedBinding['spec']['requiredBy']>
}

/** The binding that the template should have; undefined while no policy claims it and no workload needs it. */
export function decideBinding(facts: ClaimFacts): ServedBinding | undefined {
  const { template, binding, requiredBy = [] } = facts
  if (isIgnored(template)) return undefined
  const claimed = claimedBinding(facts)
  const isAttached = claimed !== undefined && claimed.spec.placement === undefined
  if (requiredBy.length === 0) return isAttached ? undefined : claimed && requiredByNone(claimed)
  const base = claimed ?? attached(template, binding)
  return { ...base, spec: { ...base.spec, requiredBy } }
}

function resourceOf({ apiVersion, kind, metadata: { namespace, name, uid } }: Template) {
  return compact({ apiVersion, kind, namespace: namespace || undefined, name, uid })
}

function requiredByNone({ spec: { requiredBy: _none, ...spec }, ...binding }: ServedBinding): ServedBinding {
  return { ...binding, spec }
}

/** The binding of an object that only follows workloads: it has no placement of its own. */
function attached(template: Template, binding: ServedBinding | undefined): ServedBinding {
  const { kind, metadata } = template
  return {
    ...binding,
    apiVersion: apiVersionOf(ResourceBinding),
    kind: ResourceBinding.kind,
    metadata: {
      ...binding?.metadata,
      name: bindingName({ kind, name: metadata.name }),
      namespace: metadata.namespace ?? '',
    },
    spec: { resource: resourceOf(template) },
  }
}

function claimedBinding(facts: ClaimFacts): ServedBinding | undefined {
  const { template, binding, policies, overrides, invalid = [] } = facts
  // An edit that is not valid is no deletion: what the policy decided stays, and the object is followed.
  if (binding && invalid.some((policy) => isClaimedBy(binding, policy))) return followed(template, binding)
  const object = { ...template, metadata: { ...template.metadata, ...claimOf(template, binding) } }
  const claims = new PolicyClaims(object, [...(policies as readonly PolicyObject[]), ...overrides], { preempts: true })
  claims.seeObject()
  const preempting = policies.filter(({ spec }) => spec.preemption === 'Always')
  for (const policy of preempting.toSorted((a, b) => priorityOf(b) - priorityOf(a))) {
    claims.apply(policy)
  }
  const { claim, problem } = claims.state
  const policy =
    claim &&
    policies.find(
      ({ kind, metadata }) =>
        kind === claim.kind && metadata.name === claim.name && (metadata.namespace ?? '') === (claim.namespace ?? ''),
    )
  // Without a policy, or while its overrides are missing, what was decided stays.
  if (!policy || problem !== undefined) return binding && !policy ? unclaimed(binding) : binding
  return bindingFor(template, binding, policy)
}

/** Whether the binding records a claim of the policy. */
export function isClaimedBy({ metadata }: ServedBinding, policy: ServedPropagation | undefined): boolean {
  const uid = policy?.metadata.uid ?? ''
  return uid !== '' && Object.values(metadata.labels ?? {}).includes(uid)
}

/** The binding with its decisions, and with the object as it is now. */
function followed(template: Template, binding: ServedBinding): ServedBinding {
  return {
    ...binding,
    spec: compact({
      ...binding.spec,
      resource: resourceOf(template),
      replicas: replicasOf(template),
      replicaRequirements: requirementsOf(template),
    }),
  }
}

/** What each replica requests. */
function requirementsOf(template: Template): ServedBinding['spec']['replicaRequirements'] {
  const { resourceRequest } = interpretReplicas(template)?.requires ?? {}
  return resourceRequest && { resourceRequest: { ...resourceRequest } }
}

/** The claim that the binding records, as labels and annotations of the template. */
function claimOf({ metadata }: Template, binding: ServedBinding | undefined): Partial<Template['metadata']> {
  const own = (map: Readonly<Record<string, string>> | undefined): [string, string][] =>
    Object.entries(map ?? {}).filter(([key]) => key.startsWith(`${PP}/`) || key.startsWith(`${CPP}/`))
  const foreign = (map: Readonly<Record<string, string>> | undefined): [string, string][] =>
    Object.entries(map ?? {}).filter(([key]) => !key.startsWith(`${PP}/`) && !key.startsWith(`${CPP}/`))
  return {
    labels: Object.fromEntries([...foreign(metadata.labels), ...own(binding?.metadata.labels)]),
    annotations: Object.fromEntries([...foreign(metadata.annotations), ...own(binding?.metadata.annotations)]),
  }
}

/** A binding whose policy is gone stays with what it decided. */
function unclaimed(binding: ServedBinding): ServedBinding {
  const { labels: _labels, annotations = {}, ...metadata } = binding.metadata
  const kept = Object.entries(annotations).filter(([key]) => !key.startsWith(`${PP}/`) && !key.startsWith(`${CPP}/`))
  return { ...binding, metadata: { ...metadata, labels: {}, annotations: Object.fromEntries(kept) } }
}

function bindingFor(
  template: Template,
  binding: ServedBinding | undefined,
  policy: ServedPropagation,
): ServedBinding | undefined {
  const { kind, metadata } = template
  const isCluster = policy.kind === 'ClusterPropagationPolicy'
  const prefix = isCluster ? CPP : PP
  const content = digestOfJson(withoutServerFields(template))
  const isLazy = policy.spec.activationPreference === 'Lazy'
  const before = binding?.metadata.annotations?.[ACTIVATED]
  if (isLazy && before === content) return binding
  // A lazy policy that comes after its object waits for the next change of the object.
  if (isLazy && !binding && isOlder(template, policy)) return undefined
  const type = metadata.namespace ? ResourceBinding : ClusterResourceBinding
  const {
    placement,
    propagateDeps,
    failover,
    conflictResolution,
    suspension,
    preserveResourcesOnDeletion,
    schedulerName,
  } = policy.spec
  const { clusters, gracefulEvictionTasks, requiredBy, rescheduleTriggeredAt } = binding?.spec ?? {}
  return {
    ...binding,
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: {
      ...binding?.metadata,
      name: bindingName({ kind, name: metadata.name }),
      ...compact({ namespace: metadata.namespace || undefined }),
      labels: { [`${prefix}/permanent-id`]: policy.metadata.uid ?? '' },
      annotations: {
        ...appliedPlacement(binding),
        ...compact({ [`${prefix}/namespace`]: isCluster ? undefined : policy.metadata.namespace }),
        [`${prefix}/name`]: policy.metadata.name,
        ...(isLazy ? { [ACTIVATED]: content } : {}),
        ...compact({ [FAIL_BACK]: policy.metadata.annotations?.[FAIL_BACK] }),
      },
    },
    spec: compact({
      resource: resourceOf(template),
      replicas: replicasOf(template),
      replicaRequirements: requirementsOf(template),
      placement: placement ?? {},
      clusters,
      gracefulEvictionTasks,
      requiredBy,
      rescheduleTriggeredAt,
      propagateDeps,
      failover,
      conflictResolution,
      suspension,
      preserveResourcesOnDeletion,
      schedulerName,
    }),
  }
}

/** Annotation with the clusters that a binding has left because they were out of reach. */
export const LEFT_CLUSTERS = 'karmada.flotilla.dev/left-clusters'
/** Annotation with the token of the last drop of clusters that a person released: a token counts once. */
export const RELEASED_DROP = 'karmada.flotilla.dev/released-drop'
/** Annotation with the placement that was applied last. */
export const APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement'

function appliedPlacement(binding: ServedBinding | undefined): Record<string, string> {
  const kept = Object.entries(binding?.metadata.annotations ?? {}).filter(
    ([key]) => key === APPLIED_PLACEMENT || key === LEFT_CLUSTERS || key === RELEASED_DROP,
  )
  return Object.fromEntries(kept)
}

function isOlder(template: Template, policy: ServedPropagation): boolean {
  return (template.metadata.creationTimestamp ?? '') < (policy.metadata.creationTimestamp ?? '')
}
