/**
 * Parameters of policies, parsed once per change. A policy may be bound to hundreds of parameters, of which a match
 * condition leaves one: a condition that reads only the parameter and the namespace of the request is evaluated once
 * for both, and its answer is kept as long as the parameter does not change.
 */
import type { CelProgram } from '../../cel/cel.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { followKind } from '../storage/follow-kind.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import type { CompiledScope } from '../../plan/policy/rules/compile-policy.ts'

/** The objects of parameter kinds. */
export interface ParamCache {
  /** All objects of a cluster-scoped kind; the same objects as long as they do not change. */
  list(kind: Kind): Promise<readonly UnknownObject[]>
  /** Resolves when all following has ended. */
  done(): Promise<void>
}

interface Followed {
  readonly objects: Map<string, UnknownObject>
  readonly running: RunningFollower
  list: readonly UnknownObject[] | undefined
}

/** Follows each kind from the first question about it until the signal is aborted. */
export function createParamCache(parts: Pick<ServerParts, 'store' | 'clock' | 'log'>, signal: AbortSignal): ParamCache {
  const kinds = new Map<string, Followed>()

  function follow(kind: Kind): Followed {
    const objects = new Map<string, UnknownObject>()
    const handler = {
      saw: (object: UnknownObject) => {
        objects.set(object.metadata.name, object)
        followed.list = undefined
      },
      lost: (name: string) => {
        objects.delete(name)
        followed.list = undefined
      },
    }
    const followed: Followed = { objects, list: undefined, running: followKind(parts, kind, handler, signal) }
    return followed
  }

  return {
    async list(kind) {
      const key = `${kind.group}/${kind.plural}`
      const followed = kinds.get(key) ?? follow(kind)
      kinds.set(key, followed)
      await followed.running.ready
      return (followed.list ??= [...followed.objects.values()])
    },
    done: async () => void (await Promise.all([...kinds.values()].map(({ running }) => running.done))),
  }
}

/** The most namespaces that are remembered for a parameter. */
const MAX_NAMESPACES = 10_000

const mismatches = new WeakMap<UnknownObject, Map<CelProgram, Set<string>>>()
const readsNamespaceOnly = new WeakMap<CelProgram, boolean>()

/** Whether a condition reads only the parameter and the namespace of the request. */
function isSettled(program: CelProgram): boolean {
  let known = readsNamespaceOnly.get(program)
  if (known === undefined) {
    const others = [...program.uses].filter((name) => name !== 'params' && name !== 'request')
    const requests = [...program.source.matchAll(/\brequest\b(\.namespace\b)?/g)]
    known = others.length === 0 && requests.every(([, field]) => field !== undefined)
    readsNamespaceOnly.set(program, known)
  }
  return known
}

type ByNamespace = Map<string, readonly UnknownObject[]>
const narrowed = new WeakMap<readonly UnknownObject[], WeakMap<CompiledScope, ByNamespace>>()

/**
 * The parameters whose match conditions may hold for a namespace. The answer for a list is kept, so that a request
 * costs the same with one parameter and with hundreds.
 */
export function mayMatch(
  params: readonly UnknownObject[],
  compiled: CompiledScope | undefined,
  namespace: string,
): readonly UnknownObject[] {
  if (!compiled) return params
  const byPolicy = narrowed.get(params) ?? new WeakMap<CompiledScope, ByNamespace>()
  narrowed.set(params, byPolicy)
  const byNamespace = byPolicy.get(compiled) ?? new Map<string, readonly UnknownObject[]>()
  byPolicy.set(compiled, byNamespace)
  const before = byNamespace.get(namespace) ?? params
  const left = before.filter((param) => !isKnownMismatch(compiled, param, namespace))
  if (byNamespace.size >= MAX_NAMESPACES) byNamespace.clear()
  byNamespace.set(namespace, left)
  return left
}

function isKnownMismatch({ matchConditions }: CompiledScope, param: UnknownObject, namespace: string): boolean {
  const known = mismatches.get(param)
  return known !== undefined && matchConditions.some(({ program }) => known.get(program)?.has(namespace))
}

/** Remembers that a match condition was false. */
export function noteMismatch(program: CelProgram, param: UnknownObject | undefined, namespace: string): void {
  if (!param || !isSettled(program)) return
  const known = mismatches.get(param) ?? new Map<CelProgram, Set<string>>()
  mismatches.set(param, known)
  const namespaces = known.get(program) ?? new Set()
  if (namespaces.size >= MAX_NAMESPACES) namespaces.clear()
  known.set(program, namespaces.add(namespace))
}
