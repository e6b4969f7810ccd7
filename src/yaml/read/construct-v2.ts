/** Values as sigs.k8s.io/yaml makes them for kubectl and Helm: yaml.v2's decoder, then JSON. */
import { Constructor, hasEntry, setEntry } from './construct.ts'
import type { ScalarValue, Target } from './construct.ts'
import { goFloat32 } from '../go-text.ts'
import { goSyntax } from '../go-syntax.ts'
import { PLAIN } from '../node.ts'
import type { YamlNode } from '../node.ts'
import { resolvePlain } from '../resolve-scalar.ts'

/** A key as JSON has it, and as Go tells it from others. */
interface Key {
  readonly text: string
  readonly type: string
}

/** A mapping while it is filled. */
interface Filling {
  readonly target: Target
  /** Types of keys that are no strings: `1` and `"1"` are two keys to Go and one in JSON. */
  types?: Map<string, string>
  /** Keys that so far only a merge has set. */
  merged?: Set<string>
}

/** The 1.1 dialect. */
export class ConstructorV2 extends Constructor {
  protected override root(node: YamlNode): unknown {
    return this.value(node)
  }

  protected override scalar(node: YamlNode): ScalarValue {
    if (node.tag === '') {
      if (node.style !== PLAIN) return { tag: '!!str', value: node.value }
      const resolved = resolvePlain(node.value, '1.1')
      // Dates stay text for the sake of older programs.
      return resolved.tag === '!!timestamp' ? { tag: '!!timestamp', value: node.value } : resolved
    }
    const tagged = this.tagged(node, node.tag)
    return tagged.tag === '!!timestamp' ? { tag: '!!timestamp', value: node.value } : tagged
  }

  protected override mapping(node: YamlNode): Target {
    const target = this.newTarget()
    this.#fill({ target }, node, false)
    return target
  }

  #fill(filling: Filling, { content }: YamlNode, merging: boolean): void {
    for (let i = 0; i + 1 < content.length; i += 2) {
      const keyNode = content[i]!
      const valueNode = content[i + 1]!
      if (isMerge(keyNode)) {
        this.#merge(filling, valueNode)
        continue
      }
      const key = this.#key(keyNode)
      const value = this.value(valueNode)
      if (key.type === 'nil' || key.type === 'uint64') {
        this.#refuseKey(filling.target, key, keyNode, valueNode)
      }
      if (hasEntry(filling.target, key.text) && this.#isDuplicate(filling, key, merging)) {
        const problem = `key ${goSyntax(keyNode, '1.1', 'top')} already set in map`
        this.typeFail(problem, keyNode, `line ${valueNode.line}: ${problem}`)
        continue
      }
      if (key.type !== 'string' || filling.types) (filling.types ??= new Map()).set(key.text, key.type)
      if (merging) (filling.merged ??= new Set()).add(key.text)
      else filling.merged?.delete(key.text)
      setEntry(filling.target, key.text, value)
    }
  }

  #isDuplicate({ types, merged }: Filling, key: Key, merging: boolean): boolean {
    const { duplicateKeys = 'error' } = this.options
    if (duplicateKeys === 'last' || (types?.get(key.text) ?? 'string') !== key.type) return false
    // The house lets a key and a merge meet; Go's strict reading does not.
    return duplicateKeys === 'strict' || !(merging || merged?.has(key.text))
  }

  // At its place among the keys: what comes later wins, so the first of several merged mappings is set last.
  #merge(filling: Filling, node: YamlNode): void {
    const sources = node.kind === 'sequence' ? node.content.toReversed() : [node]
    for (const source of sources) {
      const mapping = source.kind === 'alias' ? source.alias! : source
      if (mapping.kind !== 'mapping') this.fail('map merge requires map or sequence of maps as the value', source)
      this.count(source)
      if (source.kind === 'alias') {
        this.inAlias(source, () => {
          this.count(mapping)
          this.#fill(filling, mapping, true)
        })
      } else this.nested(source, () => this.#fill(filling, mapping, true))
    }
  }

  #key(node: YamlNode): Key {
    if (node.kind === 'alias') {
      this.count(node)
      return this.inAlias(node, (target) => this.#key(target))
    }
    if (node.kind !== 'scalar') {
      // What is wrong inside the key is told first.
      this.value(node)
      return this.fail(`invalid map key: ${goSyntax(node, '1.1')}`, node)
    }
    this.count(node)
    const { tag, value } = this.scalar(node)
    switch (typeof value) {
      case 'string':
        return { text: value, type: 'string' }
      case 'number':
        return tag === '!!float' ? floatKey(value) : { text: String(value), type: 'int' }
      case 'bigint':
        return { text: String(value), type: value < 2n ** 63n ? 'int' : 'uint64' }
      case 'boolean':
        return { text: String(value), type: 'bool' }
      default:
        return { text: 'null', type: 'nil' }
    }
  }

  #refuseKey(target: Target, { type }: Key, keyNode: YamlNode, valueNode: YamlNode): void {
    const key = goSyntax(keyNode, '1.1', 'top')
    const value = goSyntax(valueNode, '1.1', 'top')
    const goType = type === 'nil' ? '%!s(<nil>)' : type
    this.badMapping(target, `unsupported map key of type: ${goType}, key: ${key}, value: ${value}`, keyNode)
  }
}

function floatKey(value: number): Key {
  const text = goFloat32(value)
  return { text: SPECIAL_FLOATS.get(text) ?? text, type: 'float64' }
}

const SPECIAL_FLOATS = new Map([
  ['+Inf', '.inf'],
  ['-Inf', '-.inf'],
  ['NaN', '.nan'],
])

function isMerge(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || node.value !== '<<') return false
  return (node.tag === '' && node.style === PLAIN) || node.tag === '!' || node.tag === '!!merge'
}
