/**
 * The limits of Projects as the signed document has them (feature `projects/v1`). They hold for each operation and each
 * lookup of a bundle. A Project that changes freezes: what the bundle has in the cluster stays and is repaired, and a
 * bundle that is removed takes its objects along.
 */
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { lookupRefusal, objectRefusal, setExecutorRefusal } from '../../plan/projects/limits.ts'
import type { Lookup, ProjectLimits } from '../../plan/projects/limits.ts'
import type { DocumentRules } from '../../wire/document/cluster-document.ts'

/** What holds for the bundles of a namespace: limits, or the reason why nothing is written. */
type NamespaceRule = { readonly limits: ProjectLimits } | { readonly refusal: string }

/** Creates the limits over the rules that are in force. */
export function createProjectRules(rules: () => DocumentRules | undefined) {
  // Documents are immutable, so the index is built once for each.
  const indexes = new WeakMap<DocumentRules, ReadonlyMap<string, NamespaceRule>>()

  function ruleOf(bundle: string): NamespaceRule | undefined {
    const current = rules()
    if (!current) return undefined
    let index = indexes.get(current)
    if (!index) {
      index = indexRules(current)
      indexes.set(current, index)
    }
    return index.get(bundle.slice(0, bundle.indexOf('/')))
  }

  /** Asks a rule about the executor of a set, and then about the rest. */
  function ask(
    bundle: string,
    executor: Executor | undefined,
    then: (limits: ProjectLimits) => string | undefined,
  ): string | undefined {
    const rule = ruleOf(bundle)
    if (!rule) return undefined
    // A Delivery needs no Project.
    if ('refusal' in rule) return deliveryKeyOf(bundle) === undefined ? rule.refusal : undefined
    return setExecutorRefusal(rule.limits, executor) ?? then(rule.limits)
  }

  return {
    /** Why a bundle may not write an object as this executor; undefined when it may. */
    writeRefusal: (bundle: string, executor: Executor | undefined, id: ObjectId): string | undefined =>
      ask(bundle, executor, (limits) => objectRefusal(limits, id)),
    /** Why a bundle may not look something up as this executor; undefined when it may. */
    lookupRefusal: (bundle: string, executor: Executor | undefined, lookup: Lookup): string | undefined =>
      ask(bundle, executor, (limits) => lookupRefusal(limits, lookup)),
  }
}

function indexRules({ projects = [], withoutProject = [] }: DocumentRules): ReadonlyMap<string, NamespaceRule> {
  const index = new Map<string, NamespaceRule>()
  for (const { namespaces, ...limits } of projects) {
    for (const namespace of namespaces) index.set(namespace, { limits })
  }
  for (const { namespace, message } of withoutProject) index.set(namespace, { refusal: message })
  return index
}
