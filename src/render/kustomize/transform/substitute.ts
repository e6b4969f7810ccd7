/** Flux's post-build substitution: `${name}` in the text of finished objects, with defaults and a strict mode. */
import { KustomizeError } from '../kustomize-error.ts'
import type { Resource } from '../resources/resource.ts'
import { idText } from '../resources/resource-id.ts'
import { readFirstYaml, writeYaml } from '../nodes/yaml.ts'

/** How to substitute. */
export interface SubstituteOptions {
  /** A name without value and default is an error instead of empty. */
  readonly strict?: boolean
}

const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'

/** The text of objects with their variables replaced; an object may opt out with a label or an annotation. */
export function substituteResources(
  resources: readonly Resource[],
  variables: ReadonlyMap<string, string>,
  options: SubstituteOptions = {},
): string {
  return resources
    .map((resource) => {
      const text = resource.toYaml()
      const isOff = resource.labels.get(SWITCH) === 'disabled' || resource.annotation(SWITCH) === 'disabled'
      if (isOff || !text.includes('${')) return text
      let replaced: string
      try {
        replaced = substitute(text, variables, options)
      } catch (caught) {
        throw new KustomizeError(
          `variable substitution failed in ${idText(resource.currentId)}: ${caught instanceof Error ? caught.message : String(caught)}`,
        )
      }
      return writeYaml(readFirstYaml(replaced, { resolver: '1.1', integers: 'bigint', mappings: 'map' }).value)
    })
    .join('---\n')
}

/** Replaces the variables of a text; `$${name}` stands for itself with one dollar. */
export function substitute(
  text: string,
  variables: ReadonlyMap<string, string>,
  options: SubstituteOptions = {},
): string {
  let result = ''
  let at = 0
  for (;;) {
    const dollar = text.indexOf('$', at)
    if (dollar < 0) return result + text.slice(at)
    result += text.slice(at, dollar)
    if (text.startsWith('$${', dollar)) {
      result += '${'
      at = dollar + 3
    } else if (text[dollar + 1] === '{') {
      const close = closingBrace(text, dollar + 2)
      if (close < 0) throw new KustomizeError('missing closing brace')
      result += expand(text.slice(dollar + 2, close), variables, options)
      at = close + 1
    } else {
      result += '$'
      at = dollar + 1
    }
  }
}

function closingBrace(text: string, from: number): number {
  let depth = 1
  for (let i = from; i < text.length; i++) {
    if (text[i] === '}' && --depth === 0) return i
    if (text[i] === '{' && text[i - 1] === '$') depth++
  }
  return -1
}

const EXPRESSION = /^(#?)([A-Za-z_][A-Za-z0-9_]*)([^]*)$/

function expand(expression: string, variables: ReadonlyMap<string, string>, options: SubstituteOptions): string {
  const [, length, name, rest] = EXPRESSION.exec(expression) ?? []
  if (name === undefined) throw new KustomizeError(`unable to parse variable name ${JSON.stringify(expression)}`)
  const value = variables.get(name)
  const withDefault = /^:?[-=]([^]*)$/.exec(rest!)
  if (withDefault) {
    return value === undefined || value === '' ? substitute(withDefault[1]!, variables, options) : value
  }
  if (value === undefined && options.strict) {
    throw new KustomizeError(`variable not set (strict mode): ${JSON.stringify(name)}`)
  }
  const text = value ?? ''
  if (length === '#') return String([...text].length)
  return rest === '' ? text : changed(text, rest!, (inner) => substitute(inner, variables, options))
}

function changed(text: string, operation: string, resolve: (text: string) => string): string {
  const slice = /^:(-?\d+)(?::(-?\d+))?$/.exec(operation)
  if (slice) {
    const start = Number(slice[1])
    return slice[2] === undefined ? text.slice(start) : text.slice(start, start + Number(slice[2]))
  }
  switch (operation) {
    case '^^':
      return text.toUpperCase()
    case ',,':
      return text.toLowerCase()
    case '^':
      return text.charAt(0).toUpperCase() + text.slice(1)
    case ',':
      return text.charAt(0).toLowerCase() + text.slice(1)
    default:
  }
  const [, mark, argument] = /^(##|#|%%|%|\/\/|\/)([^]*)$/.exec(operation) ?? []
  if (mark === undefined) throw new KustomizeError(`unable to parse substitution ${JSON.stringify(operation)}`)
  if (mark.startsWith('/')) {
    const [from = '', to = ''] = argument!.split('/').map(resolve)
    if (from === '') return text
    return mark === '//' ? text.replaceAll(from, () => to) : text.replace(from, () => to)
  }
  return trimmed(text, mark as '#' | '##' | '%' | '%%', resolve(argument!))
}

function trimmed(text: string, mark: '#' | '##' | '%' | '%%', pattern: string): string {
  const lengths = Array.from({ length: text.length + 1 }, (_, i) => i)
  if (mark.length === 2) lengths.reverse()
  const fromStart = mark.startsWith('#')
  for (const length of lengths) {
    const part = fromStart ? text.slice(0, length) : text.slice(text.length - length)
    if (globMatches(pattern, part)) return fromStart ? text.slice(length) : text.slice(0, text.length - length)
  }
  return text
}

// `*` and `?` only; each text is tried once per position, so that no pattern takes long.
function globMatches(pattern: string, text: string): boolean {
  let states = new Set([0])
  const close = (at: Set<number>): Set<number> => {
    for (const state of at) if (pattern[state] === '*') at.add(state + 1)
    return at
  }
  states = close(states)
  for (const char of text) {
    const next = new Set<number>()
    for (const state of states) {
      if (pattern[state] === '*') next.add(state)
      else if (pattern[state] === '?' || pattern[state] === char) next.add(state + 1)
    }
    states = close(next)
  }
  return states.has(pattern.length)
}
