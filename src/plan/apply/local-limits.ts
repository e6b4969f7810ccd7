/**
 * The local ceiling: what a cluster's own people let the agent do, whatever the hub says. Checked before every write.
 */
import { matchesGlob } from '../../core/text/glob.ts'
import { describeObject, selects } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** What may be done in a cluster; an absent field allows all. */
export interface LocalLimits {
  /** Globs of namespaces that bundles may write to. */
  readonly namespaces?: readonly string[]
  /** Whether bundles may write objects that are in no namespace. */
  readonly clusterScoped?: boolean
  readonly allowKinds?: readonly KindRule[]
  readonly denyKinds?: readonly KindRule[]
  /** ServiceAccounts, `namespace/name` globs, that bundles may be applied as. */
  readonly executors?: readonly string[]
  /** Whether a bundle without an executor is applied with the agent's own rights. */
  readonly ownRights?: boolean
  /** The most objects of a bundle that are deleted at once. */
  readonly maxPrune?: number
}

/** Kinds by group and kind; `*` stands for any text. */
export interface KindRule {
  readonly group?: string
  readonly kind?: string
}

/** The identity that applies a bundle. */
export interface Executor {
  readonly namespace: string
  readonly name: string
}

/** Why an executor may not be used; undefined when it may. */
export function executorRefusal(ceiling: LocalLimits, executor: Executor | undefined): string | undefined {
  if (!executor) {
    return ceiling.ownRights === false
      ? "this cluster's ceiling wants an executor for every bundle; name one in spec.executor"
      : undefined
  }
  const name = `${executor.namespace}/${executor.name}`
  if (!ceiling.executors || ceiling.executors.some((pattern) => matchesGlob(pattern, name))) return undefined
  return `this cluster's ceiling does not allow executor ${name}; allowed: ${ceiling.executors.join(', ') || 'none'}`
}

/** Why an object may not be written; undefined when it may. */
export function writeRefusal(ceiling: LocalLimits, id: ObjectId): string | undefined {
  const say = (why: string) => `${describeObject(id)}: this cluster's ceiling ${why}`
  // A namespace is judged as the place it is.
  const namespace = id.kind === 'Namespace' && !id.apiVersion.includes('/') ? id.name : id.namespace
  if (namespace === undefined) {
    if (ceiling.clusterScoped === false) return say('allows no objects outside namespaces')
  } else if (ceiling.namespaces && !ceiling.namespaces.some((pattern) => matchesGlob(pattern, namespace))) {
    return say(`does not allow namespace ${namespace}; allowed: ${ceiling.namespaces.join(', ') || 'none'}`)
  }
  if (ceiling.denyKinds?.some((rule) => selects(rule, id))) return say(`denies kind ${id.kind} of ${id.apiVersion}`)
  if (ceiling.allowKinds && !ceiling.allowKinds.some((rule) => selects(rule, id))) {
    return say(`does not allow kind ${id.kind} of ${id.apiVersion}`)
  }
  return undefined
}

/**
 * Why something may not be read for a bundle; undefined when it may. Where it may not write, it has nothing to read
 * either.
 */
export function readRefusal(
  ceiling: LocalLimits,
  what: { readonly kind: string; readonly namespace?: string | undefined; readonly name: string },
): string | undefined {
  const { kind, namespace, name } = what
  const label = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name || '*'}`
  if (namespace === undefined) {
    return ceiling.clusterScoped === false
      ? `${label}: this cluster's ceiling allows nothing outside namespaces`
      : undefined
  }
  if (!ceiling.namespaces || ceiling.namespaces.some((pattern) => matchesGlob(pattern, namespace))) return undefined
  const allowed = ceiling.namespaces.join(', ') || 'none'
  return `${label}: this cluster's ceiling does not allow namespace ${namespace}; allowed: ${allowed}`
}

/** The user Kubernetes knows a ServiceAccount by; its groups follow from that. */
export function userOf({ namespace, name }: Executor): string {
  return `system:serviceaccount:${namespace}:${name}`
}
