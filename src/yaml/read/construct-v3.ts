/** Values as Kustomize makes them: yaml.v3's decoder into a map with string keys, then JSON. */
import { Constructor, NO_VALUE, setEntry } from './construct.ts'
import type { ScalarValue, Target } from './construct.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import { goSyntax } from '../go-syntax.ts'
import { TAGGED, isMarkedString, shortTag, tagOf } from '../node.ts'
import type { YamlNode } from '../node.ts'
import { resolvePlain } from '../resolve-scalar.ts'

/** The 1.2 dialect. */
export class ConstructorV3 extends Constructor {
  /** While merging: the keys that are already there. */
  #mergedKeys: Set<string> | undefined

  protected override root(node: YamlNode): unknown {
    if (node.kind !== 'mapping') return this.value(node)
    this.count(node)
    return this.nested(node, () => this.#mapping(node, true))
  }

  protected override scalar(node: YamlNode): ScalarValue {
    if (isMarkedString(node)) return { tag: '!!str', value: node.value }
    // Without a written tag, the text resolves to its own tag.
    if (node.tag === '' || node.tag === '!') return resolvePlain(node.value, '1.2')
    if ((node.style & TAGGED) === 0 && node.tag !== '!!merge') {
      const resolved = resolvePlain(node.value, '1.2')
      if (resolved.tag === node.tag) return resolved
    }
    return this.tagged(node, shortTag(node.tag))
  }

  protected override mapping(node: YamlNode): unknown {
    return this.#mapping(node, false)
  }

  #mapping(node: YamlNode, isRoot: boolean): Target | typeof NO_VALUE {
    if (this.options.duplicateKeys !== 'last' && this.#hasDuplicates(node)) return NO_VALUE
    const stringKeys = isRoot || hasStringKeys(node)
    const target = this.newTarget()
    if (!stringKeys) this.badMapping(target, 'json: unsupported type: map[interface {}]interface {}', node)
    this.#fill(target, node, stringKeys)
    return target
  }

  #hasDuplicates(node: YamlNode): boolean {
    const groups = new Map<string, YamlNode[]>()
    let repeated = false
    for (let i = 0; i < node.content.length; i += 2) {
      const key = node.content[i]!
      const id = `${key.kind} ${key.value}`
      const group = groups.get(id)
      if (group) {
        group.push(key)
        repeated = true
      } else groups.set(id, [key])
    }
    if (!repeated) return false
    const firsts = [...groups.values()].filter((group) => group.length > 1)
    // Go compares each key with all after it.
    const pairs = firsts.flatMap((group) =>
      group.flatMap((first, i) => group.slice(i + 1).map((second) => ({ first, second }))),
    )
    const order = new Map(node.content.map((child, i) => [child, i]))
    pairs.sort((a, b) => order.get(a.first)! - order.get(b.first)! || order.get(a.second)! - order.get(b.second)!)
    for (const { first, second } of pairs) {
      const problem = `mapping key ${goQuote(second.value)} already defined at line ${first.line}`
      this.typeFail(problem, second, `line ${second.line}: ${problem}`)
    }
    return true
  }

  #fill(target: Target, node: YamlNode, stringKeys: boolean): void {
    const merged = this.#mergedKeys
    this.#mergedKeys = undefined
    let mergeNode: YamlNode | undefined
    for (let i = 0; i + 1 < node.content.length; i += 2) {
      const keyNode = node.content[i]!
      if (isMerge(keyNode)) {
        mergeNode = node.content[i + 1]!
        continue
      }
      const key = this.#key(keyNode, stringKeys)
      if (key === undefined || merged?.has(key)) continue
      merged?.add(key)
      const value = this.value(node.content[i + 1]!)
      if (value !== NO_VALUE) setEntry(target, key, value)
    }
    this.#mergedKeys = merged
    if (mergeNode) this.#merge(target, { parent: node, mergeNode, stringKeys })
  }

  #merge(
    target: Target,
    { parent, mergeNode, stringKeys }: { parent: YamlNode; mergeNode: YamlNode; stringKeys: boolean },
  ): void {
    const before = this.#mergedKeys
    if (!before) {
      this.#mergedKeys = new Set()
      for (let i = 0; i < parent.content.length; i += 2) {
        const key = this.#typedKey(parent.content[i]!)
        if (key !== undefined) this.#mergedKeys.add(key)
      }
    }
    const sources = mergeNode.kind === 'sequence' ? mergeNode.content : [mergeNode]
    for (const source of sources) {
      const mapping = source.kind === 'alias' ? source.alias! : source
      if (mapping.kind !== 'mapping') this.fail('map merge requires map or sequence of maps as the value', source)
      this.count(source)
      const fill = (): void => {
        if (source.kind === 'alias') this.count(mapping)
        if (this.options.duplicateKeys === 'last' || !this.#hasDuplicates(mapping))
          this.#fill(target, mapping, stringKeys)
      }
      if (source.kind === 'alias') this.inAlias(source, fill)
      else this.nested(source, fill)
    }
    this.#mergedKeys = before
  }

  // Go compares typed keys here, so a number never matches the text that a merge brings.
  #typedKey(node: YamlNode): string | undefined {
    this.count(node)
    if (node.kind === 'alias') return this.inAlias(node, (target) => this.#typedKey(target))
    if (node.kind !== 'scalar') return this.#unhashable(node)
    const { value } = this.scalar(node)
    return typeof value === 'string' ? value : undefined
  }

  #unhashable(node: YamlNode): undefined {
    if (this.value(node) === NO_VALUE) return undefined
    const type = node.kind === 'sequence' ? '[]' : hasStringKeys(node) ? 'map[string]' : 'map[interface {}]'
    return this.fail(`runtime error: hash of unhashable type ${type}interface {}`, node)
  }

  // A map with string keys takes the text of whatever scalar stands there, and skips nulls.
  #key(node: YamlNode, stringKeys: boolean): string | undefined {
    this.count(node)
    if (node.kind === 'alias') return this.inAlias(node, (target) => this.#key(target, stringKeys))
    if (node.kind !== 'scalar') {
      if (!stringKeys) {
        // What is wrong inside the key is told first.
        if (this.value(node) === NO_VALUE) return undefined
        this.fail(`invalid map key: ${goSyntax(node, '1.2')}`, node)
      }
      const tag = tagOf(node)
      const problem = `cannot unmarshal ${tag}${tag === '!!map' || tag === '!!seq' ? '' : ' ``'} into string`
      this.typeFail(problem, node, `line ${node.line}: ${problem}`)
      return undefined
    }
    const scalar = this.scalar(node)
    if (scalar.tag === '!!binary' && typeof scalar.value === 'string') return scalar.value
    return stringKeys && scalar.value === null ? undefined : node.value
  }
}

function hasStringKeys(node: YamlNode): boolean {
  for (let i = 0; i < node.content.length; i += 2) {
    const tag = tagOf(node.content[i]!)
    if (tag !== '!!str' && tag !== '!!merge') return false
  }
  return true
}

function isMerge(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || node.value !== '<<') return false
  return node.tag === '' || node.tag === '!' || shortTag(node.tag) === '!!merge'
}
