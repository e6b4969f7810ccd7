// Tested by src/apiserver/quota/quota.contract.test.ts
import type { Clock } from '../../core/time/clock.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { mapAt } from '../../kinds/builtin/read-path.ts'
import type { Store, StoreEvent } from '../../store/store.ts'
import type { Registry } from '../server/registry.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { sameAmounts } from './amounts.ts'
import { measureUsage, resourceNamesForType } from './usage.ts'
import type { CountedType, ObjectUsage } from './usage.ts'

/** The objects of a namespace that its quotas count. */
interface NamespaceUsage {
  readonly types: readonly CountedType[]
  readonly objects: ReadonlyMap<string, ObjectUsage>
}

/** The usage of every object that a quota counts, for the namespaces that have quotas. */
export interface CountedObjects {
  get(namespace: string): NamespaceUsage | undefined
  has(namespace: string): boolean
  namespaces(): readonly string[]
  clear(): void
  /** Reads the counted objects of a namespace at a revision. False when the namespace has no quota. */
  read(namespace: string, revision: number): Promise<boolean>
  /** Counts a change. Returns the namespace when its usage changed. */
  count(event: StoreEvent): string | undefined
}

interface CountedObjectsPorts {
  readonly store: Store
  readonly clock: Clock
  readonly registry: Pick<Registry, 'all'>
}

interface CountedNamespace extends NamespaceUsage {
  readonly objects: Map<string, ObjectUsage>
}

/** Makes an empty table; `kind` is the kind of the quotas. */
export function createCountedObjects({ store, clock, registry }: CountedObjectsPorts, kind: Kind): CountedObjects {
  const counted = new Map<string, CountedNamespace>()

  /** The types that a namespace's quotas name in `spec.hard`. */
  function countedTypes(quotas: readonly { readonly value: string }[]): CountedType[] {
    const names = new Set(quotas.flatMap(({ value }) => Object.keys(mapAt(parseStored(value), 'spec.hard'))))
    const types = registry.all().filter(({ scope }) => scope === 'Namespaced')
    const named = types.filter((type) => resourceNamesForType(type, names).length > 0)
    return [...new Map(named.map((type) => [storePrefix(type), type])).values()]
  }

  async function read(namespace: string, revision: number): Promise<boolean> {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace), revision })
    if (entries.length === 0) {
      counted.delete(namespace)
      return false
    }
    const types = countedTypes(entries)
    const objects = new Map<string, ObjectUsage>()
    for (const type of types) {
      const found = await store.list({ prefix: storePrefix(type, namespace), revision })
      for (const { key, value } of found.entries) objects.set(key, measureUsage(type, parseStored(value), clock.now()))
    }
    counted.set(namespace, { types, objects })
    return true
  }

  function count({ key, value }: StoreEvent): string | undefined {
    const [, group, plural, namespace, name] = key.split('/')
    const usage = name === undefined ? undefined : counted.get(namespace!)
    const type = usage?.types.find((one) => one.plural === plural && (one.group || '_') === group)
    if (!usage || !type) return undefined
    const before = usage.objects.get(key)
    if (value === undefined) {
      usage.objects.delete(key)
      return namespace
    }
    const now = measureUsage(type, parseStored(value), clock.now())
    usage.objects.set(key, now)
    return before && isSame(before, now) ? undefined : namespace
  }

  return {
    get: (namespace) => counted.get(namespace),
    has: (namespace) => counted.has(namespace),
    namespaces: () => [...counted.keys()],
    clear: () => counted.clear(),
    read,
    count,
  }
}

function isSame(a: ObjectUsage, b: ObjectUsage): boolean {
  if (!sameAmounts(a.usage, b.usage) || a.traits.size !== b.traits.size) return false
  return [...a.traits].every(([scope, has]) => b.traits.get(scope)?.join() === has.join())
}
