/**
 * Whether a schema is structural, by the rules of apiextensions: a type at each node, nothing a CRD refuses, keyed
 * lists that name their keys. Each problem says where it is and what is wrong.
 */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

const KEYWORDS: ReadonlySet<string> = new Set(
  `type description title format default example nullable enum pattern minLength maxLength minimum maximum exclusiveMinimum
  exclusiveMaximum multipleOf minItems maxItems minProperties maxProperties required properties additionalProperties items
  allOf anyOf oneOf not externalDocs x-kubernetes-int-or-string x-kubernetes-preserve-unknown-fields x-kubernetes-map-type
  x-kubernetes-embedded-resource x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-validations`.split(
    /\s+/,
  ),
)

const FORBIDDEN_IN_COMBINATIONS = [
  'type',
  'additionalProperties',
  'default',
  'title',
  'description',
  'nullable',
  ...[...KEYWORDS].filter((keyword) => keyword.startsWith('x-kubernetes-')),
]

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean'])
const SCALARS: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean'])

/** What keeps a schema from being structural; nothing means it is. */
export function structuralProblems(schema: unknown): string[] {
  const problems: string[] = []
  checkNode(schema, '', problems)
  if (isObject(schema) && schema['type'] !== 'object') problems.push('(root): type must be object at the root')
  if (isObject(schema) && schema['additionalProperties'] !== undefined) {
    problems.push('(root): additionalProperties must not be used at the root')
  }
  return problems
}

function checkNode(node: unknown, path: string, problems: string[]): void {
  const at = path === '' ? '(root)' : path
  const say = (problem: string) => problems.push(`${at}: ${problem}`)
  if (!isObject(node)) {
    say('must be a schema')
    return
  }
  for (const keyword of Object.keys(node)) {
    if (!KEYWORDS.has(keyword)) say(`${keyword} is no keyword of a structural schema`)
  }
  checkTypes(node, say)
  if (node['properties'] !== undefined && node['additionalProperties'] !== undefined) {
    say('properties and additionalProperties exclude each other')
  }
  if (node['type'] === 'array') {
    checkList(node, say)
    checkNode(node['items'], `${path}[*]`, problems)
  }
  for (const [field, child] of Object.entries(isObject(node['properties']) ? node['properties'] : {})) {
    checkNode(child, path === '' ? field : `${path}.${field}`, problems)
  }
  if (isObject(node['additionalProperties'])) checkNode(node['additionalProperties'], `${path}.*`, problems)
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not']) {
    for (const part of [node[keyword] ?? []].flat()) checkCombination(part, node, `${at} ${keyword}`, problems)
  }
}

function checkTypes(node: JsonObject, say: (problem: string) => void): void {
  const isFree = node['x-kubernetes-int-or-string'] === true || node['x-kubernetes-preserve-unknown-fields'] === true
  if (node['type'] === undefined ? !isFree : !TYPES.has(node['type'])) say('must have a type')
  if (node['x-kubernetes-int-or-string'] === true && node['type'] !== undefined) {
    say('int-or-string must not have a type')
  }
  if (node['x-kubernetes-embedded-resource'] === true && node['type'] !== 'object') {
    say('an embedded resource must be an object')
  }
  if (Array.isArray(node['required']) && isObject(node['properties'])) {
    for (const field of node['required']) {
      if (!Object.hasOwn(node['properties'], String(field))) say(`required field ${String(field)} is not described`)
    }
  }
}

function checkList(node: JsonObject, say: (problem: string) => void): void {
  const { items } = node
  const keys = node['x-kubernetes-list-map-keys']
  if (node['x-kubernetes-list-type'] !== 'map') {
    if (keys !== undefined) say('x-kubernetes-list-map-keys needs x-kubernetes-list-type: map')
    return
  }
  if (!isObject(items) || items['type'] !== 'object') {
    say('items of a keyed list must be objects')
    return
  }
  if (!Array.isArray(keys) || keys.length === 0) say('a keyed list must name its keys')
  for (const key of Array.isArray(keys) ? keys.map(String) : []) {
    const field = isObject(items['properties']) ? items['properties'][key] : undefined
    if (!isObject(field) || !SCALARS.has(field['type'])) say(`key ${key} must be a scalar field of the items`)
    else if (!(Array.isArray(items['required']) && items['required'].includes(key)) && field['default'] === undefined) {
      say(`key ${key} must be required or have a default`)
    }
  }
}

function checkCombination(part: unknown, parent: JsonObject, at: string, problems: string[]): void {
  if (!isObject(part)) return
  // The one exception Kubernetes makes: spelling out int-or-string.
  const isIntOrString = parent['x-kubernetes-int-or-string'] === true && Object.keys(part).join() === 'type'
  if (isIntOrString) return
  for (const keyword of FORBIDDEN_IN_COMBINATIONS) {
    if (part[keyword] !== undefined) problems.push(`${at}: ${keyword} must not be used below a combination`)
  }
}

/** Strings, lists and maps without a bound, by path; without a bound the size of an object is unlimited. */
export function unboundedPaths(schema: unknown, path = ''): string[] {
  if (!isObject(schema)) return []
  const found: string[] = []
  const { type } = schema
  const isBoundedText =
    schema['maxLength'] !== undefined || schema['enum'] !== undefined || schema['format'] === 'date-time'
  if ((type === 'string' || schema['x-kubernetes-int-or-string'] === true) && !isBoundedText) found.push(path)
  if (type === 'array' && schema['maxItems'] === undefined) found.push(path)
  if (isObject(schema['additionalProperties'])) {
    if (schema['maxProperties'] === undefined) found.push(path)
    found.push(...unboundedPaths(schema['additionalProperties'], `${path}.*`))
  }
  if (schema['items'] !== undefined) found.push(...unboundedPaths(schema['items'], `${path}[*]`))
  for (const [field, child] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    found.push(...unboundedPaths(child, path === '' ? field : `${path}.${field}`))
  }
  return found
}
