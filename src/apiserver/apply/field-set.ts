import { isObject } from '../../core/json.ts'

/**
 * Sets of fields, in memory and as managedFields carry them (FieldsV1). A path is a list of elements in their written
 * form: `f:spec` a field, `k:{"name":"web"}` the item of a keyed list, `v:"a"` the item of a set, `i:0` an index.
 * A path may be a member without its children, and the other way round, exactly as in Kubernetes.
 */

/** A step of a path, in its written form. */
export type PathElement = `${'f' | 'k' | 'v' | 'i'}:${string}`

/** A path from the root of an object. */
export type FieldPath = readonly PathElement[]

/** A set of paths. */
export class FieldSet {
  readonly members: Set<PathElement>
  readonly children: Map<PathElement, FieldSet>

  constructor(members: Iterable<PathElement> = [], children: Iterable<readonly [PathElement, FieldSet]> = []) {
    this.members = new Set(members)
    this.children = new Map(children)
  }

  static of(...paths: readonly FieldPath[]): FieldSet {
    const set = new FieldSet()
    for (const path of paths) set.insert(path)
    return set
  }

  /** Adds a path; the whole object (the empty path) is never owned. */
  insert(path: FieldPath): void {
    const last = path.at(-1)
    if (last === undefined) return
    const [first] = path
    if (path.length === 1 || first === undefined) {
      this.members.add(last)
      return
    }
    let child = this.children.get(first)
    if (!child) this.children.set(first, (child = new FieldSet()))
    child.insert(path.slice(1))
  }

  has(path: FieldPath): boolean {
    const [first, ...rest] = path
    if (first === undefined) return false
    return rest.length === 0 ? this.members.has(first) : this.below(first).has(rest)
  }

  isEmpty(): boolean {
    return this.members.size === 0 && [...this.children.values()].every((child) => child.isEmpty())
  }

  union(other: FieldSet): FieldSet {
    const children = new Map(this.children)
    for (const [element, child] of other.children) {
      const mine = children.get(element)
      children.set(element, mine ? mine.union(child) : child)
    }
    return new FieldSet([...this.members, ...other.members], children)
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => other.members.has(element)))
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element)
      if (theirs) result.#addChild(element, child.intersection(theirs))
    }
    return result
  }

  /** What is here and not there; a parent and its children are different paths. */
  difference(other: FieldSet): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => !other.members.has(element)))
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element)
      result.#addChild(element, theirs ? child.difference(theirs) : child)
    }
    return result
  }

  /** The paths of this set that are neither in the second set nor below one of its paths. */
  recursiveDifference(other: FieldSet): FieldSet {
    const result = new FieldSet([...this.members].filter((element) => !other.members.has(element)))
    for (const [element, child] of this.children) {
      if (other.members.has(element)) continue
      const theirs = other.children.get(element)
      result.#addChild(element, theirs ? child.recursiveDifference(theirs) : child)
    }
    return result
  }

  /** The paths below an element. */
  below(element: PathElement): FieldSet {
    return this.children.get(element) ?? EMPTY
  }

  /** All members in order, parents first. */
  *paths(prefix: FieldPath = []): Generator<FieldPath> {
    for (const element of [...this.members].sort(compareElements)) yield [...prefix, element]
    for (const element of [...this.children.keys()].sort(compareElements)) {
      yield* this.children.get(element)!.paths([...prefix, element])
    }
  }

  // A node without members would make two equal sets look different.
  #addChild(element: PathElement, child: FieldSet): void {
    if (!child.isEmpty()) this.children.set(element, child)
  }
}

const EMPTY = new FieldSet()

/** The element of a field. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

/** The element of the item of a set. */
export function valueElement(value: unknown): PathElement {
  return `v:${goJson(value)}`
}

/** The element of the item of a keyed list. */
export function keyElement(key: Readonly<Record<string, unknown>>): PathElement {
  const fields = Object.keys(key)
    .sort()
    .map((name) => `${goJson(name)}:${goJson(key[name])}`)
  return `k:{${fields.join(',')}}`
}

/** A path as conflicts show it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function pathText(path: FieldPath): string {
  return path.map(elementText).join('')
}

function elementText(element: PathElement): string {
  const rest = element.slice(2)
  if (element.startsWith('f:')) return `.${rest}`
  if (element.startsWith('v:')) return `[=${rest}]`
  if (element.startsWith('i:')) return `[${rest}]`
  const key = JSON.parse(rest) as Record<string, unknown>
  return `[${Object.entries(key)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`
}

/** The set as managedFields carry it. */
export function toFieldsV1(set: FieldSet): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const elements = new Set([...set.members, ...set.children.keys()])
  for (const element of [...elements].sort(compareElements)) {
    const child = set.children.get(element)
    const below = child && !child.isEmpty() ? toFieldsV1(child) : {}
    const own = set.members.has(element) && Object.keys(below).length > 0 ? { '.': {} } : {}
    fields[element] = { ...own, ...below }
  }
  return fields
}

/** The set of a FieldsV1; undefined when it is malformed. */
export function fromFieldsV1(fields: unknown, depth = 0): FieldSet | undefined {
  if (!isObject(fields) || depth > 200) return undefined
  const set = new FieldSet()
  for (const [key, below] of Object.entries(fields)) {
    if (key === '.') continue
    const element = parseElement(key)
    if (!element || !isObject(below)) return undefined
    const isLeaf = Object.keys(below).length === 0
    if (isLeaf || Object.hasOwn(below, '.')) set.members.add(element)
    if (isLeaf) continue
    const child = fromFieldsV1(below, depth + 1)
    if (!child) return undefined
    if (!child.isEmpty()) set.children.set(element, child)
  }
  return set
}

/** The canonical form of a written element, so that equal elements are equal strings. */
function parseElement(text: string): PathElement | undefined {
  const rest = text.slice(2)
  try {
    switch (text.slice(0, 2)) {
      case 'f:':
        return `f:${rest}`
      case 'v:':
        return valueElement(JSON.parse(rest))
      case 'k:': {
        const key: unknown = JSON.parse(rest)
        return isObject(key) ? keyElement(key) : undefined
      }
      case 'i:':
        return /^\d+$/.test(rest) ? `i:${Number(rest)}` : undefined
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

const ORDER = 'fkvi'

function compareElements(a: PathElement, b: PathElement): number {
  const byType = ORDER.indexOf(a[0]!) - ORDER.indexOf(b[0]!)
  if (byType !== 0) return byType
  return a < b ? -1 : a > b ? 1 : 0
}

// Go's encoder escapes what could end an HTML script.
function goJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
