// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/**
 * Which policy claims an object while policies come, change and go. A claim stays with its policy until the policy is
 * deleted, no longer selects the object, or another policy takes it by preemption.
 */
import { jsonEqual } from '../../../core/json.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { SelectableObject } from '../resource-selector.ts'
import { choosePolicy, priorityOf } from './choose-policy.ts'
import type { PropagationPolicy } from './choose-policy.ts'
import { whyIgnored } from './ignored-objects.ts'

/** A policy by kind, namespace and name. */
export interface PolicyRef {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

interface Claim extends PolicyRef {
  /** The permanent id of the policy. */
  readonly id: string
}

/** The binding that a claim makes. */
export interface ClaimedBinding {
  readonly claimedBy?: Claim
  readonly placement: unknown
}

/** What holds after a change has settled. */
export interface ClaimState {
  readonly claim?: PolicyRef
  readonly binding?: ClaimedBinding
  /** True while no policy selects the object. */
  readonly isWaiting: boolean
  /** Why the object, or a policy, is tried again. */
  readonly problem?: string
  readonly ignored?: 'api' | 'namespace'
}

/** A policy or an override that exists. */
export interface PolicyObject {
  readonly kind: string
  readonly metadata: PropagationPolicy['metadata']
  readonly spec?: PropagationPolicy['spec']
}

const CLAIMED_BY_OTHERS = 'resourcetemplate.karmada.io/claimed-by'
const PP = 'propagationpolicy.karmada.io'
const CPP = 'clusterpropagationpolicy.karmada.io'
const PROBLEM = 'waiting for dependent overrides'
/** Karmada settles after a few rounds; policies that take an object from each other would never settle. */
const MAX_ROUNDS = 1000

interface Task {
  readonly isChangeByKarmada: boolean
}

/** Follows the claims of one object. */
export class PolicyClaims {
  #object: SelectableObject & { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }
  #claim: Claim | undefined
  #binding: ClaimedBinding | undefined
  #isWaiting = false
  #problem: string | undefined
  readonly #objects = new Map<string, PolicyObject>()
  readonly #preempts: boolean
  #isKnown = false
  #tasks: Task[] = []
  #retries = new Map<string, PropagationPolicy>()

  constructor(object: SelectableObject, objects: readonly PolicyObject[], options: { readonly preempts: boolean }) {
    this.#object = object
    this.#preempts = options.preempts
    this.#claim = claimIn(object)
    for (const one of objects) this.#objects.set(keyOf(one), one)
  }

  /** What holds now. */
  get state(): ClaimState {
    const ignored = whyIgnored(this.#object)
    return {
      ...(this.#claim && { claim: this.#claim }),
      ...(this.#binding && { binding: this.#binding }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(ignored && this.#isKnown && { ignored }),
      isWaiting: this.#isWaiting,
    }
  }

  /** The object was created or changed by a user. */
  seeObject(): void {
    this.#isKnown = true
    this.#tasks.push({ isChangeByKarmada: false })
    this.#settle()
  }

  /** A user changed labels of the object; null removes one. */
  changeLabels(labels: Readonly<Record<string, string | null>>): void {
    const changed = { ...this.#object.metadata.labels, ...labels }
    const kept = Object.entries(changed).filter((entry): entry is [string, string] => entry[1] !== null)
    if (jsonEqual(Object.fromEntries(kept), this.#object.metadata.labels ?? {})) return
    this.#object = { ...this.#object, metadata: { ...this.#object.metadata, labels: Object.fromEntries(kept) } }
    this.seeObject()
  }

  /** A policy or an override was created or changed. */
  apply(object: PolicyObject): void {
    const before = this.#objects.get(keyOf(object))
    this.#objects.set(keyOf(object), object)
    if (isPropagationPolicy(object)) {
      this.#reconcilePolicy(object)
      if (before && isPropagationPolicy(before) && this.#preempts) this.#reconcileLowered(before, object)
    }
    this.#settle()
  }

  /** A policy or an override was deleted: the policy loses its claim, the binding stays. */
  delete(ref: PolicyRef): void {
    const key = keyOf({ kind: ref.kind, metadata: ref })
    const policy = this.#objects.get(key)
    this.#objects.delete(key)
    this.#retries.delete(key)
    if (policy && isPropagationPolicy(policy) && this.#holds(policy) && coversKind(policy, this.#object))
      this.#release()
    this.#settle()
  }

  #settle(): void {
    for (const policy of Array.from(this.#retries.values())) this.#reconcilePolicy(policy)
    if (this.#problem !== undefined && this.#isKnown) this.#tasks.push({ isChangeByKarmada: false })
    for (let round = 0; this.#tasks.length > 0 && round < MAX_ROUNDS; round++)
      this.#reconcileObject(this.#tasks.shift()!)
    this.#tasks = []
    if (this.#retries.size > 0) this.#problem = PROBLEM
  }

  #reconcileObject({ isChangeByKarmada }: Task): void {
    this.#problem = undefined
    if (whyIgnored(this.#object)) return
    if (this.#object.metadata.labels?.[CLAIMED_BY_OTHERS]) {
      this.#isWaiting = false
      return
    }
    if (this.#claim) return this.#reconcileClaim(this.#claim, isChangeByKarmada)
    const policy = choosePolicy(this.#object, this.#policies())
    if (!policy) {
      this.#isWaiting = true
      return
    }
    if (!this.#hasOverrides(policy)) {
      this.#problem = PROBLEM
      return
    }
    this.#isWaiting = false
    this.#bind(policy, isChangeByKarmada)
  }

  #reconcileClaim(claim: Claim, isChangeByKarmada: boolean): void {
    const policy = this.#objects.get(keyOf({ kind: claim.kind, metadata: claim }))
    if (!policy || !isPropagationPolicy(policy)) return this.#release()
    if (selectorsPriority(this.#object, policy.spec.resourceSelectors) === 0) return
    if (this.#hasOverrides(policy)) this.#bind(policy, isChangeByKarmada)
    else this.#problem = PROBLEM
  }

  /** A lazy policy claims, and leaves the binding as it is until a user changes the object. */
  #bind(policy: PropagationPolicy, isChangeByKarmada: boolean): void {
    this.#claimFor(policy)
    if (isChangeByKarmada && isLazy(policy)) return
    this.#binding = { claimedBy: this.#claim!, placement: policy.spec.placement ?? {} }
  }

  /** A new claim is a change of the object by Karmada. */
  #claimFor(policy: PropagationPolicy): void {
    if (this.#claim?.kind === policy.kind && this.#claim.id === idOf(policy)) return
    this.#claim = { ...refOf(policy), id: idOf(policy) }
    this.#tasks.push({ isChangeByKarmada: true })
  }

  #release(): void {
    if (this.#binding?.claimedBy?.id === this.#claim?.id) this.#unclaimBinding()
    this.#claim = undefined
    this.#tasks.push({ isChangeByKarmada: true })
  }

  #unclaimBinding(): void {
    if (this.#binding) this.#binding = { placement: this.#binding.placement }
  }

  #reconcilePolicy(policy: PropagationPolicy): void {
    this.#retries.delete(keyOf(policy))
    const selects = selectorsPriority(this.#object, policy.spec.resourceSelectors) > 0
    if (this.#binding?.claimedBy?.id === idOf(policy) && this.#binding.claimedBy.kind === policy.kind) {
      if (selects) this.#tasks.push({ isChangeByKarmada: isLazy(policy) })
      else this.#release()
    }
    if (this.#isWaiting && selects && isInReach(policy, this.#object)) {
      if (!this.#hasOverrides(policy)) {
        this.#retries.set(keyOf(policy), policy)
        return
      }
      this.#isWaiting = false
      this.#tasks.push({ isChangeByKarmada: isLazy(policy) })
    }
    if (this.#preempts && policy.spec.preemption === 'Always') this.#preempt(policy)
  }

  /** Takes the object from a policy with a lower priority, if the policy names the object. */
  #preempt(policy: PropagationPolicy): void {
    const claim = this.#claim
    if (!claim || !this.#isKnown || !namesObject(policy, this.#object)) return
    if (claim.kind === policy.kind && claim.name === policy.metadata.name && sameNamespace(claim, policy)) return
    if (claim.kind !== policy.kind) {
      if (policy.kind === 'PropagationPolicy') this.#claimFor(policy)
      return
    }
    const other = this.#objects.get(keyOf({ kind: claim.kind, metadata: claim }))
    if (other && isPropagationPolicy(other) && priorityOf(policy) > priorityOf(other)) this.#claimFor(policy)
  }

  /** Policies with a priority between the old and the new one of a lowered policy may take its object now. */
  #reconcileLowered(before: PropagationPolicy, after: PropagationPolicy): void {
    if (priorityOf(after) >= priorityOf(before)) return
    const between = [...this.#policies()].filter(
      (policy) =>
        policy.kind === after.kind &&
        (policy.metadata.namespace ?? '') === (after.metadata.namespace ?? '') &&
        policy.spec.priority !== undefined &&
        policy.spec.preemption === 'Always' &&
        priorityOf(policy) > priorityOf(after) &&
        priorityOf(policy) < priorityOf(before),
    )
    for (const policy of between.sort((a, b) => priorityOf(b) - priorityOf(a))) this.#reconcilePolicy(policy)
  }

  #policies(): Iterable<PropagationPolicy> {
    return [...this.#objects.values()].filter(isPropagationPolicy)
  }

  #holds(policy: PropagationPolicy): boolean {
    return this.#claim?.kind === policy.kind && this.#claim.id === idOf(policy)
  }

  #hasOverrides({ kind, metadata, spec }: PropagationPolicy): boolean {
    const overrideKind = kind === 'PropagationPolicy' ? 'OverridePolicy' : 'ClusterOverridePolicy'
    const namespace = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
    return (spec.dependentOverrides ?? []).every((name) =>
      this.#objects.has(keyOf({ kind: overrideKind, metadata: { name, ...namespace } })),
    )
  }
}

function isPropagationPolicy(object: PolicyObject): object is PropagationPolicy {
  return object.kind === 'PropagationPolicy' || object.kind === 'ClusterPropagationPolicy'
}

function isLazy({ spec }: PropagationPolicy): boolean {
  return spec.activationPreference === 'Lazy'
}

function idOf({ kind, metadata }: PropagationPolicy): string {
  return metadata.labels?.[`${kind === 'PropagationPolicy' ? PP : CPP}/permanent-id`] ?? ''
}

function refOf({ kind, metadata }: PropagationPolicy): PolicyRef {
  const { name, namespace } = metadata
  return { kind, ...(namespace !== undefined && { namespace }), name }
}

function keyOf({ kind, metadata }: { readonly kind: string; readonly metadata: Omit<PolicyRef, 'kind'> }): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

function sameNamespace(claim: Claim, policy: PropagationPolicy): boolean {
  return (claim.namespace ?? '') === (policy.metadata.namespace ?? '')
}

/** A PropagationPolicy reaches objects of its own namespace only. */
function isInReach(policy: PropagationPolicy, object: SelectableObject): boolean {
  return policy.kind === 'ClusterPropagationPolicy' || policy.metadata.namespace === object.metadata.namespace
}

/** Preemption looks the object up by the name in the selector. */
function namesObject({ spec }: PropagationPolicy, { apiVersion, kind, metadata }: SelectableObject): boolean {
  return (spec.resourceSelectors ?? []).some(
    (selector) =>
      selector.apiVersion === apiVersion &&
      selector.kind === kind &&
      (selector.namespace ?? '') === (metadata.namespace ?? '') &&
      selector.name === metadata.name,
  )
}

function coversKind({ spec }: PropagationPolicy, { apiVersion, kind, metadata }: SelectableObject): boolean {
  return (spec.resourceSelectors ?? []).some(
    (selector) =>
      selector.apiVersion === apiVersion &&
      selector.kind === kind &&
      ['', metadata.namespace ?? ''].includes(selector.namespace ?? ''),
  )
}

/** The claim that an object has in its labels and annotations. */
function claimIn(object: {
  readonly metadata: SelectableObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> }
}): Claim | undefined {
  const { labels = {}, annotations = {} } = object.metadata
  const namespace = annotations[`${PP}/namespace`] ?? ''
  const own = { name: annotations[`${PP}/name`] ?? '', id: labels[`${PP}/permanent-id`] ?? '' }
  if (namespace !== '' && own.name !== '' && own.id !== '') return { kind: 'PropagationPolicy', namespace, ...own }
  const cluster = { name: annotations[`${CPP}/name`] ?? '', id: labels[`${CPP}/permanent-id`] ?? '' }
  return cluster.name !== '' && cluster.id !== '' ? { kind: 'ClusterPropagationPolicy', ...cluster } : undefined
}
