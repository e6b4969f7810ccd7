/**
 * The limits of a Project that hold for single objects in a cluster. The hub checks rendered content with them, and
 * the agent checks each write with them again, from the signed document (feature `projects/v1`).
 */
import { compact } from '../../core/compact.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { Executor } from '../apply/local-limits.ts'
import { describeObject } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'
import { allowsAll, kindText, matchesAny, matchesKind } from './patterns.ts'

/** The limits as a document carries them. An absent list allows everything, an empty list nothing. */
export interface ProjectLimits {
  /** Name of the Project, for messages. */
  readonly name: string
  readonly kinds?: readonly string[]
  readonly targetNamespaces?: readonly string[]
  /** Patterns of `namespace/name`. */
  readonly executors?: readonly string[]
  /** The ServiceAccount of bundles without an executor, `namespace/name`. */
  readonly defaultExecutor?: string
  /** Whether bundles without an executor may use the agent's own rights. */
  readonly ownRights: boolean
}

/** The parts of a Project that decisions read. */
export type ProjectFacts = Pick<Project, 'metadata' | 'spec'>

/** The limits of a Project for a document; undefined when the Project limits nothing in a cluster. */
export function limitsOf({ metadata, spec }: ProjectFacts): ProjectLimits | undefined {
  const limits = allLimitsOf({ metadata, spec })
  const { kinds, targetNamespaces, executors, defaultExecutor, ownRights } = limits
  return ownRights && !kinds && !targetNamespaces && !executors && !defaultExecutor ? undefined : limits
}

/** The limits of a Project, also when the Project limits nothing. */
export function allLimitsOf({ metadata, spec }: ProjectFacts): ProjectLimits {
  const { kinds = [], targetNamespaces = [], executors = {} } = spec
  const { allowed = [], default: defaultExecutor, ownRights = false } = executors
  const isAnywhere = allowsAll(targetNamespaces)
  return compact({
    name: metadata.name,
    // Beside `*`, the names of kinds count for objects without a namespace.
    kinds: allowsAll(kinds) && (isAnywhere || kinds.length === 1) ? undefined : [...kinds],
    targetNamespaces: isAnywhere ? undefined : [...targetNamespaces],
    executors: allowsAll(allowed) ? undefined : [...allowed],
    defaultExecutor,
    ownRights,
  })
}

/** Why the limits refuse an object; undefined when they allow it. */
export function objectRefusal(limits: ProjectLimits, id: ObjectId): string | undefined {
  const say = (line: string) => `Project ${limits.name}: ${line}`
  const kind = kindText(id)
  if (limits.kinds && !limits.kinds.some((pattern) => matchesKind(pattern, id))) {
    return say(`spec.kinds does not list ${kind}`)
  }
  if (!limits.targetNamespaces) return undefined
  // A Namespace is judged as the place it is.
  const namespace = kind === 'Namespace' ? id.name : id.namespace
  if (namespace !== undefined) {
    return matchesAny(limits.targetNamespaces, namespace)
      ? undefined
      : say(`spec.targetNamespaces does not list ${namespace} (${describeObject(id)})`)
  }
  if (limits.kinds?.includes(kind)) return undefined
  return say(
    `spec.targetNamespaces is limited, and spec.kinds does not list ${kind} by its full name (${describeObject(id)} has no namespace)`,
  )
}

/** Something that a chart looks up in the cluster; without a name, all objects of the kind. */
export interface Lookup {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly isNamespaced: boolean
}

/** Why the limits refuse a lookup; undefined when they allow it. A bundle reads only where it may write. */
export function lookupRefusal(limits: ProjectLimits, lookup: Lookup): string | undefined {
  const { targetNamespaces, kinds } = limits
  if (!targetNamespaces) return undefined
  const say = (line: string) => `Project ${limits.name}: ${line}`
  const kind = kindText(lookup)
  const namespace = kind === 'Namespace' ? lookup.name : lookup.namespace
  if (lookup.isNamespaced || kind === 'Namespace') {
    if (namespace === undefined || namespace === '') {
      return say(`spec.targetNamespaces is limited, so ${kind} of all namespaces cannot be looked up`)
    }
    return matchesAny(targetNamespaces, namespace)
      ? undefined
      : say(`spec.targetNamespaces does not list ${namespace}, so ${kind} cannot be looked up there`)
  }
  if (kinds?.includes(kind)) return undefined
  return say(
    `spec.targetNamespaces is limited, and spec.kinds does not list ${kind} by its full name, so it cannot be looked up`,
  )
}

/** The executor of a Bundle, absent for the agent's own rights, or why the limits refuse it. */
export interface ExecutorDecision {
  readonly executor?: Executor
  readonly refusal?: string
}

/** Decides the identity that applies a Bundle, which may ask for an executor. */
export function decideExecutor(limits: ProjectLimits, asked: Executor | undefined): ExecutorDecision {
  const { name, executors, defaultExecutor, ownRights } = limits
  if (asked) {
    const text = `${asked.namespace}/${asked.name}`
    if (text === defaultExecutor || !executors || matchesAny(executors, text)) return { executor: asked }
    return { refusal: `Project ${name}: spec.executors.allowed does not list ${text}` }
  }
  if (defaultExecutor !== undefined) return { executor: executorOf(defaultExecutor) }
  if (ownRights) return {}
  return {
    refusal: `Project ${name}: spec.executors.ownRights is not true and spec.executors.default is not set, so the Bundle must name spec.executor`,
  }
}

/**
 * Why a set with this executor, or with none, may not be applied. A set that was rendered before the Project had a
 * default names no executor, and is not applied as another than the named executor.
 */
export function setExecutorRefusal(limits: ProjectLimits, asked: Executor | undefined): string | undefined {
  const { executor, refusal } = decideExecutor(limits, asked)
  if (refusal !== undefined || asked || !executor) return refusal
  return `Project ${limits.name}: spec.executors.default is ${limits.defaultExecutor}, and the content was rendered without it`
}

function executorOf(text: string): Executor {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
