/** Cluster data for templates that records its reads: the recorded reads are the key of a variant. */
import { inputAt } from '../../core/cluster-inputs.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import { isObject } from '../../core/json.ts'

/** A cluster that records which of its fields were read. */
export interface TrackedInputs {
  label(key: string): string | undefined
  /** The id of the cluster. */
  id(): string | undefined
  /**
   * The first label whose key is meant, for systems that cannot write every key. Undefined if there is none, which
   * counts as a read of all labels.
   */
  labelLike(isMeant: (key: string) => boolean): string | undefined
  /** The version, and a function that records it as read. */
  readonly version: { readonly value: string | undefined; readonly note: () => void }
  /** The cluster as a map for templates: Name, Labels, Annotations, Claims, Values. */
  readonly map: Map<string, unknown>
  /** Labels or annotations as a map for templates, without hidden keys. */
  seen(field: 'labels' | 'annotations', isShown: (key: string) => boolean): Map<string, unknown>
  reads(): Reads
}

const FIELDS = { Labels: 'labels', Annotations: 'annotations', Claims: 'claims' } as const

export function trackReads(cluster: ClusterInputs): TrackedInputs {
  const seen = new Map<string, string | null>()
  const note = (path: string): void => void seen.set(path, inputAt(cluster, path))
  const watched = (field: keyof typeof FIELDS): Map<string, unknown> =>
    new WatchedMap(Object.entries(cluster[FIELDS[field]]), FIELDS[field], note)
  const values = new WatchedMap(Object.entries(isObject(cluster.values) ? goValue(cluster.values) : {}), 'values', note)
  const map = new WatchedMap(
    [
      ['Name', cluster.name],
      ['Labels', watched('Labels')],
      ['Annotations', watched('Annotations')],
      ['Claims', watched('Claims')],
      ['Values', values],
    ],
    '',
    (path) => (path === '.Name' ? note('name') : undefined),
  )
  return {
    map,
    seen: (field, isShown) =>
      new WatchedMap(
        Object.entries(cluster[field]).filter(([key]) => isShown(key)),
        field,
        note,
      ),
    label: (key) => {
      note(`labels.${key}`)
      return cluster.labels[key]
    },
    id: () => {
      note('id')
      return cluster.id
    },
    labelLike: (isMeant) => {
      const key = Object.keys(cluster.labels).toSorted().find(isMeant)
      note(`labels.${key ?? '*'}`)
      return key === undefined ? undefined : cluster.labels[key]
    },
    version: { value: cluster.kubeVersion, note: () => note('kubeVersion') },
    reads: () => Object.fromEntries([...seen].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** A map that records which keys a template read. A template that iterates over the map has read all of it. */
class WatchedMap extends Map<string, unknown> {
  readonly #path: string
  readonly #note: ((path: string) => void) | undefined

  constructor(entries: Iterable<readonly [string, unknown]>, path: string, note: (path: string) => void) {
    super(entries)
    this.#path = path
    this.#note = note
  }

  #saw(key: string): void {
    this.#note?.(`${this.#path}.${key}`)
  }

  override get(key: string): unknown {
    this.#saw(key)
    return super.get(key)
  }

  override has(key: string): boolean {
    this.#saw(key)
    return super.has(key)
  }

  override get size(): number {
    this.#saw('*')
    return super.size
  }

  override entries(): MapIterator<[string, unknown]> {
    this.#saw('*')
    return super.entries()
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries()
  }

  override keys(): MapIterator<string> {
    this.#saw('*')
    return super.keys()
  }

  override values(): MapIterator<unknown> {
    this.#saw('*')
    return super.values()
  }

  override forEach(callback: (value: unknown, key: string, map: Map<string, unknown>) => void): void {
    this.#saw('*')
    super.forEach(callback)
  }
}

/** JSON in the form templates use: objects are Maps. */
export function goValue(value: unknown): Record<string, unknown>
export function goValue(value: unknown): unknown {
  if (!isObject(value)) return inner(value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]))
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner)
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, inner(item)]))
  return value
}
