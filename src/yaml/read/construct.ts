/** Makes plain values of a tree: what both of Go's decoders have in common. */
import { fromBase64 } from '../../core/bytes.ts'
import { goUtf8 } from '../go-text.ts'
import type { YamlNode } from '../node.ts'
import { isResolvable, resolvePlain, resolveUndated } from '../resolve-scalar.ts'
import type { Resolved } from '../resolve-scalar.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { Reading } from './text-cursor.ts'
import { YamlError } from '../yaml.ts'
import type { ValueOptions } from '../yaml.ts'

/** A mapping while it is filled. */
export type Target = Map<string, unknown> | Record<string, unknown>

/** Says that a node has no value because something in it was wrong; what, is told at the end. */
export const NO_VALUE = Symbol('nothing')

/** What a scalar means, or the text of one with a tag that Go leaves alone. */
export type ScalarValue = Resolved | { readonly tag: string; readonly value: string }

/** Counts, limits and failures of a document; the dialects add what mappings are. */
export abstract class Constructor {
  protected readonly reading: Reading
  protected readonly options: ValueOptions
  /** What Go tells all at once after the whole document was tried. */
  readonly #typeErrors: { text: string; error: YamlError }[] = []
  /** Whether something may not become JSON, if it is still there at the end. */
  #mayNotBeJson = false
  readonly #badMappings = new WeakMap<Target, YamlError>()
  #decoded = 0
  #decodedInAliases = 0
  #depth = 0
  readonly #openAliases = new Set<YamlNode>()

  constructor(reading: Reading, options: ValueOptions) {
    this.reading = reading
    this.options = options
  }

  /** The value of a document node. */
  document(node: YamlNode): unknown {
    this.#count(node)
    const content = node.content[0]
    const value = content ? this.root(content) : null
    if (this.#typeErrors.length > 0) {
      const { error } = this.#typeErrors[0]!
      const list = this.#typeErrors.map(({ text }) => `\n  ${text}`).join('')
      throw new YamlError(problemOf(error), error.position, this.reading.file, `yaml: unmarshal errors:${list}`)
    }
    if (this.#mayNotBeJson) this.#checkJson(value)
    return value
  }

  // yaml.v2 looks at all keys before it looks at any value; JSON goes through sorted keys.
  #checkJson(value: unknown): void {
    let bad: YamlError | undefined
    const walk = (item: unknown): void => {
      if (item instanceof NotJson) bad ??= item.error
      else if (Array.isArray(item)) item.forEach(walk)
      else if (isTarget(item)) {
        const error = this.#badMappings.get(item)
        if (error && this.reading.resolver === '1.1') throw error
        bad ??= error
        const entries = item instanceof Map ? [...item] : Object.entries(item)
        for (const [, inner] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) walk(inner)
      }
    }
    walk(value)
    if (bad) throw bad
  }

  protected abstract root(node: YamlNode): unknown
  protected abstract mapping(node: YamlNode): unknown
  protected abstract scalar(node: YamlNode): ScalarValue

  /** The value of any node below the document. */
  protected value(node: YamlNode): unknown {
    this.#count(node)
    switch (node.kind) {
      case 'alias':
        return this.inAlias(node, (target) => this.value(target))
      case 'mapping': {
        this.#enter(node)
        const value = this.mapping(node)
        this.#depth--
        return value
      }
      case 'sequence': {
        this.#enter(node)
        const value = this.#sequence(node)
        this.#depth--
        return value
      }
      default:
        return this.toValue(this.scalar(node), node)
    }
  }

  /** Counts a node that is read without `value`. */
  protected count(node: YamlNode): void {
    this.#count(node)
  }

  #sequence(node: YamlNode): unknown[] {
    const items: unknown[] = []
    for (const child of node.content) {
      const item = this.value(child)
      if (item !== NO_VALUE) items.push(item)
    }
    return items
  }

  /** Goes one level down. */
  protected nested<T>(node: YamlNode, make: () => T): T {
    this.#enter(node)
    const made = make()
    this.#depth--
    return made
  }

  #enter(node: YamlNode): void {
    if (++this.#depth > this.reading.maxDepth) this.fail(`exceeded max depth of ${this.reading.maxDepth}`, node)
  }

  /** Goes to what an alias stands for. */
  protected inAlias<T>(node: YamlNode, make: (target: YamlNode) => T): T {
    if (this.#openAliases.has(node)) this.fail(`anchor '${node.value}' value contains itself`, node)
    this.#openAliases.add(node)
    const made = this.nested(node, () => make(node.alias!))
    this.#openAliases.delete(node)
    return made
  }

  /** A scalar as a value of the caller's kind. */
  protected toValue(scalar: ScalarValue, node: YamlNode): unknown {
    if (scalar.tag === '!!int' && typeof scalar.value !== 'string') return this.#integer(scalar.value)
    if (typeof scalar.value === 'number' && !Number.isFinite(scalar.value)) {
      const text = Number.isNaN(scalar.value) ? 'NaN' : scalar.value > 0 ? '+Inf' : '-Inf'
      return this.#notJson(`json: unsupported value: ${text}`, node)
    }
    if (typeof scalar.value === 'object' && scalar.value !== null) {
      const text = formatTimestamp(scalar.value)
      if (text !== undefined) return text
      const problem = 'Time.MarshalJSON: timezone hour outside of range [0,23]'
      return this.#notJson(`json: error calling MarshalJSON for type time.Time: ${problem}`, node)
    }
    return scalar.value
  }

  #integer(value: number | bigint): unknown {
    if (this.options.integer) return this.options.integer(BigInt(value))
    return this.options.integers === 'bigint' ? value : Number(value)
  }

  /** What a scalar with a tag is. */
  protected tagged(node: YamlNode, tag: string): ScalarValue {
    if (tag === '!!binary') return { tag, value: this.#binary(node) }
    if (!isResolvable(tag)) return { tag, value: node.value }
    const { resolver } = this.reading
    const resolved = tag === '!!timestamp' ? resolvePlain(node.value, resolver) : resolveUndated(node.value, resolver)
    if (resolved.tag === tag) return resolved
    // An integer may be asked to be a float, but not one that only fits a uint64.
    if (tag === '!!float' && resolved.tag === '!!int' && BigInt(resolved.value) < 2n ** 63n) {
      return { tag, value: Number(resolved.value) }
    }
    return this.fail(`cannot decode ${resolved.tag} \`${node.value}\` as a ${tag}`, node)
  }

  #binary(node: YamlNode): string {
    const text = node.value.replace(/[\r\n]/g, '')
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
      this.fail('!!binary value contains invalid base64 data', node)
    }
    return goUtf8(fromBase64(text))
  }

  protected newTarget(): Target {
    return this.options.mappings === 'map' ? new Map() : {}
  }

  protected fail(problem: string, node: YamlNode): never {
    throw new YamlError(problem, positionOf(node), this.reading.file)
  }

  protected typeFail(problem: string, node: YamlNode, goText: string): void {
    this.#typeErrors.push({ text: goText, error: new YamlError(problem, positionOf(node)) })
  }

  #notJson(problem: string, node: YamlNode): NotJson {
    this.#mayNotBeJson = true
    return new NotJson(new YamlError(problem, positionOf(node), this.reading.file, problem))
  }

  /** A mapping with a key that JSON cannot have: an error unless the mapping is replaced by a later one. */
  protected badMapping(target: Target, problem: string, node: YamlNode): void {
    this.#mayNotBeJson = true
    this.#badMappings.set(target, new YamlError(problem, positionOf(node), this.reading.file, problem))
  }

  // Go's own guard against documents that grow by aliases, and ours.
  #count(node: YamlNode): void {
    this.#decoded++
    if (this.#openAliases.size > 0) {
      this.#decodedInAliases++
      const share = this.#decodedInAliases / this.#decoded
      if (this.#decodedInAliases > 100 && this.#decoded > 1000 && share > allowedAliasShare(this.#decoded)) {
        this.fail('document contains excessive aliasing', node)
      }
    }
    if (this.#decoded > this.reading.maxNodes) this.fail(`more than ${this.reading.maxNodes} nodes`, node)
  }
}

/** Stands for a value that JSON cannot hold until it is known whether anything replaces it. */
class NotJson {
  readonly error: YamlError

  constructor(error: YamlError) {
    this.error = error
  }
}

function isTarget(value: unknown): value is Target {
  return typeof value === 'object' && value !== null
}

// Nearly all of a small document may come from aliases, a tenth of a large one.
function allowedAliasShare(decoded: number): number {
  const low = 400_000
  const high = 4_000_000
  if (decoded <= low) return 0.99
  if (decoded >= high) return 0.1
  return 0.99 - 0.89 * ((decoded - low) / (high - low))
}

function positionOf(node: YamlNode): { line: number; column: number } {
  return { line: node.line, column: node.column }
}

function problemOf(error: YamlError): string {
  return error.goMessage.slice('yaml: '.length)
}

/** Whether a mapping has this key. */
export function hasEntry(target: Target, key: string): boolean {
  return target instanceof Map ? target.has(key) : Object.hasOwn(target, key)
}

/** Sets a key; `__proto__` is a key like any other. */
export function setEntry(target: Target, key: string, value: unknown): void {
  if (target instanceof Map) target.set(key, value)
  else if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else target[key] = value
}
