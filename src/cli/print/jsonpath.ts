/**
 * kubectl's JSONPath templates: text with `{…}` parts. A part is a path (`.items[*].metadata.name`), a quoted string
 * (`"\n"`), or `range PATH` … `end`. Paths know fields, `['quoted']` fields, indexes, slices, unions, `*`, `..` and
 * filters like `?(@.status=="True")`. A missing field is nothing, as `kubectl get -o jsonpath` prints it.
 */
import { canonicalJson, isObject } from '../../core/json.ts'

/** A template that does not parse. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

type Selector =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'quoted'; readonly name: string; readonly path: readonly Selector[] }
  | { readonly kind: 'any' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'slice'; readonly from?: number; readonly to?: number; readonly step: number }
  | { readonly kind: 'union'; readonly selectors: readonly Selector[] }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator?: string; readonly right?: Operand }

type Operand =
  | { readonly kind: 'path'; readonly fromRoot: boolean; readonly path: readonly Selector[] }
  | { readonly kind: 'value'; readonly value: unknown }

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly fromRoot: boolean; readonly path: readonly Selector[] }
  | { readonly kind: 'range'; readonly over: readonly Selector[]; readonly body: readonly Node[] }

/** A parsed template: from a value to the text kubectl would print. */
export type JsonPath = (root: unknown) => string

/** Parses a template; a bare path like `.metadata.name` may leave out its braces. */
export function parseJsonPath(template: string): JsonPath {
  const bare = /^\s*(\$|\.|\[)/.test(template) && !template.includes('{')
  const parts = splitTemplate(bare ? `{${template}}` : template)
  const { nodes, rest } = parseNodes(parts, 0, false)
  if (rest !== parts.length) throw new JsonPathError(`{end} without {range …} in ${JSON.stringify(template)}`)
  return (root) => printNodes(nodes, root, root)
}

function printNodes(nodes: readonly Node[], current: unknown, root: unknown): string {
  return nodes
    .map((node) => {
      switch (node.kind) {
        case 'text':
          return node.text
        case 'path':
          return walk([node.fromRoot ? root : current], node.path, root)
            .map(printValue)
            .join(' ')
        case 'range':
          return walk([current], node.over, root)
            .map((item) => printNodes(node.body, item, root))
            .join('')
      }
    })
    .join('')
}

function printValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : canonicalJson(value)
}

type Part = { readonly text: string; readonly isCode: boolean }

function splitTemplate(template: string): Part[] {
  const parts: Part[] = []
  let at = 0
  while (at < template.length) {
    const open = template.indexOf('{', at)
    if (open < 0) {
      parts.push({ text: template.slice(at), isCode: false })
      break
    }
    if (open > at) parts.push({ text: template.slice(at, open), isCode: false })
    const close = closingBrace(template, open)
    parts.push({ text: template.slice(open + 1, close).trim(), isCode: true })
    at = close + 1
  }
  return parts
}

function closingBrace(template: string, open: number): number {
  let quote: string | undefined
  for (let at = open + 1; at < template.length; at++) {
    const char = template[at]!
    if (quote !== undefined) {
      if (char === '\\') at++
      else if (char === quote) quote = undefined
    } else if (char === '"' || char === "'") quote = char
    else if (char === '}') return at
  }
  throw new JsonPathError(`the brace at character ${open + 1} of ${JSON.stringify(template)} is not closed`)
}

function parseNodes(parts: readonly Part[], from: number, isInRange: boolean): { nodes: Node[]; rest: number } {
  const nodes: Node[] = []
  let at = from
  while (at < parts.length) {
    const { text, isCode } = parts[at]!
    at++
    if (!isCode) nodes.push({ kind: 'text', text })
    else if (text === 'end') {
      if (!isInRange) return { nodes, rest: at - 1 }
      return { nodes, rest: at }
    } else if (/^range\s/.test(text)) {
      const { path } = parsePath(text.slice('range'.length).trim())
      const body = parseNodes(parts, at, true)
      nodes.push({ kind: 'range', over: path, body: body.nodes })
      at = body.rest
    } else if (/^["']/.test(text)) nodes.push({ kind: 'text', text: unquote(text) })
    else nodes.push({ kind: 'path', ...parsePath(text) })
  }
  if (isInRange) throw new JsonPathError('{range …} without {end}')
  return { nodes, rest: at }
}

function unquote(text: string): string {
  const quote = text[0]!
  if (text.length < 2 || !text.endsWith(quote)) throw new JsonPathError(`unterminated string ${text}`)
  // Both quotes take the same escapes, as in kubectl.
  const inner = text.slice(1, -1)
  const asJson = quote === "'" ? `"${inner.replaceAll("\\'", "'").replace(/(?<!\\)"/g, '\\"')}"` : text
  try {
    return JSON.parse(asJson) as string
  } catch {
    throw new JsonPathError(`not a string: ${text}`)
  }
}

function parsePath(text: string): { fromRoot: boolean; path: Selector[] } {
  const path: Selector[] = []
  let rest = text.trim()
  const fromRoot = rest.startsWith('$')
  if (fromRoot || rest.startsWith('@')) rest = rest.slice(1)
  while (rest !== '') {
    if (rest.startsWith('..')) {
      path.push({ kind: 'descend' })
      rest = rest.slice(rest[2] === '[' ? 2 : 1)
      continue
    }
    if (rest.startsWith('[')) {
      const close = closingBracket(rest)
      path.push(parseBracket(rest.slice(1, close).trim()))
      rest = rest.slice(close + 1)
      continue
    }
    const match = /^\.?((?:\\.|[^.[\]\s\\])+)/.exec(rest)
    if (rest === '.') break
    if (!match) throw new JsonPathError(`cannot read ${JSON.stringify(rest)} in the path ${JSON.stringify(text)}`)
    const name = match[1]!.replace(/\\(.)/g, '$1')
    path.push(name === '*' ? { kind: 'any' } : { kind: 'field', name })
    rest = rest.slice(match[0].length)
  }
  return { fromRoot, path }
}

function closingBracket(text: string): number {
  let depth = 0
  let quote: string | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote !== undefined) {
      if (char === '\\') at++
      else if (char === quote) quote = undefined
    } else if (char === '"' || char === "'") quote = char
    else if (char === '[') depth++
    else if (char === ']' && --depth === 0) return at
  }
  throw new JsonPathError(`no closing bracket in ${JSON.stringify(text)}`)
}

function parseBracket(inner: string): Selector {
  if (inner.startsWith('?(') && inner.endsWith(')')) return parseFilter(inner.slice(2, -1).trim())
  const items = splitUnion(inner).map(parseBracketItem)
  return items.length === 1 ? items[0]! : { kind: 'union', selectors: items }
}

function splitUnion(text: string): string[] {
  return (text.match(/(?:"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|[^,])+/g) ?? []).map((item) => item.trim())
}

function parseBracketItem(item: string): Selector {
  if (item === '*') return { kind: 'any' }
  // `['a.b']` is the field `a.b` or, as kubectl reads it, the path `.a.b`; escaped dots are part of a name.
  if (/^["']/.test(item))
    return { kind: 'quoted', name: unquote(item.replaceAll('\\.', '.')), path: parsePath(`.${item.slice(1, -1)}`).path }
  const slice = /^(-?\d*)(:(-?\d*))?(:(\d*))?$/.exec(item)
  if (!slice || item === '') throw new JsonPathError(`cannot read [${item}]`)
  const [, from, hasTo, to, , step] = slice
  const start = from === '' ? undefined : Number(from)
  if (hasTo === undefined) {
    const index = start ?? 0
    return { kind: 'slice', from: index, ...(index !== -1 && { to: index + 1 }), step: 1 }
  }
  return {
    kind: 'slice',
    ...(start !== undefined && { from: start }),
    ...(to !== undefined && to !== '' && { to: Number(to) }),
    step: step ? Number(step) : 1,
  }
}

function parseFilter(text: string): Selector {
  const match = /^((?:"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|[^=!<>"'])+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/.exec(text)
  if (!match) return { kind: 'filter', left: parseOperand(text) }
  return { kind: 'filter', left: parseOperand(match[1]!), operator: match[2]!, right: parseOperand(match[3]!) }
}

function parseOperand(text: string): Operand {
  const word = text.trim()
  if (/^[@$.]/.test(word)) return { kind: 'path', ...parsePath(word) }
  if (/^["']/.test(word)) return { kind: 'value', value: unquote(word) }
  if (word === 'true' || word === 'false') return { kind: 'value', value: word === 'true' }
  const number = Number(word)
  if (Number.isNaN(number)) throw new JsonPathError(`cannot read ${JSON.stringify(word)} in a filter`)
  return { kind: 'value', value: number }
}

function walk(values: readonly unknown[], path: readonly Selector[], root: unknown): unknown[] {
  let found = [...values]
  for (const selector of path) found = found.flatMap((value) => select(value, selector, root))
  return found
}

function select(value: unknown, selector: Selector, root: unknown): unknown[] {
  switch (selector.kind) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, selector.name) ? [value[selector.name]] : []
    case 'quoted':
      if (isObject(value) && Object.hasOwn(value, selector.name)) return [value[selector.name]]
      return walk([value], selector.path, root)
    case 'any':
      if (Array.isArray(value)) return value as unknown[]
      return isObject(value) ? Object.values(value) : []
    case 'descend':
      return descendants(value)
    case 'union':
      return selector.selectors.flatMap((one) => select(value, one, root))
    case 'slice': {
      if (!Array.isArray(value)) return []
      const items = (value as unknown[]).slice(selector.from, selector.to)
      return selector.step <= 1 ? items : items.filter((_, index) => index % selector.step === 0)
    }
    case 'filter': {
      const items = Array.isArray(value) ? (value as unknown[]) : isObject(value) ? Object.values(value) : []
      return items.filter((item) => passes(item, selector, root))
    }
  }
}

function descendants(value: unknown): unknown[] {
  const children = Array.isArray(value) ? (value as unknown[]) : isObject(value) ? Object.values(value) : []
  return [value, ...children.flatMap(descendants)]
}

function passes(item: unknown, filter: Extract<Selector, { kind: 'filter' }>, root: unknown): boolean {
  const left = valueOf(filter.left, item, root)
  if (filter.operator === undefined || filter.right === undefined) return left !== undefined
  const right = valueOf(filter.right, item, root)
  if (left === undefined || right === undefined) return false
  switch (filter.operator) {
    case '==':
      return left === right
    case '!=':
      return left !== right
    default:
      return typeof left === typeof right && compare(left as string, filter.operator, right as string)
  }
}

function compare(left: string | number, operator: string, right: string | number): boolean {
  if (operator === '<') return left < right
  if (operator === '<=') return left <= right
  return operator === '>' ? left > right : left >= right
}

function valueOf(operand: Operand, item: unknown, root: unknown): unknown {
  if (operand.kind === 'value') return operand.value
  return walk([operand.fromRoot ? root : item], operand.path, root)[0]
}
