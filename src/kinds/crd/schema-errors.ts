/** Whether a definition's schema is structural: what a kube-apiserver refuses, in its words. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { forbidden, invalid, notSupported, required } from '../validation/field-error.ts'
import type { FieldError } from '../validation/field-error.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { validateValue } from '../validation/validate-value.ts'
import { matchesPattern } from '../validation/validate-object.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const FORBIDDEN: Readonly<Record<string, string>> = {
  $ref: '$ref is not supported',
  definitions: 'definitions is not supported',
  dependencies: 'dependencies is not supported',
  id: 'id is not supported',
  patternProperties: 'patternProperties is not supported',
  additionalItems: 'additionalItems is not supported',
}
const NOT_BELOW = ['type', 'additionalProperties', 'default', 'title', 'description', 'nullable'] as const

/** What keeps a schema from being structural. */
export function schemaErrors(schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const root = schema as JsonObject
  if (root['type'] === undefined) errors.push(required(`${path}.type`, 'must not be empty at the root'))
  else if (root['type'] !== 'object') errors.push(invalid(`${path}.type`, root['type'], 'must be object at the root'))
  if (root['nullable'] === true) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  if (errors.length === 0) checkNode(root, path, errors, true)
  return errors
}

function checkNode(node: JsonObject, path: string, errors: FieldError[], isRoot = false): void {
  for (const [keyword, problem] of Object.entries(FORBIDDEN)) {
    if (node[keyword] !== undefined) errors.push(forbidden(`${path}.${keyword}`, problem))
  }
  checkType(node, path, errors)
  if (node['uniqueItems'] === true) {
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    )
  }
  if (
    isObject(node['properties']) &&
    node['additionalProperties'] !== undefined &&
    node['additionalProperties'] !== true
  ) {
    errors.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'))
  }
  if (isRoot || node['x-kubernetes-embedded-resource'] === true) checkMetadata(node, path, errors)
  if (node['type'] === 'array') {
    if (!isObject(node['items'])) errors.push(required(`${path}.items`, 'must be specified'))
    else {
      checkList(node, node['items'], path, errors)
      checkNode(node['items'], `${path}.items`, errors)
    }
  }
  for (const [field, child] of Object.entries(isObject(node['properties']) ? node['properties'] : {})) {
    if (isObject(child)) checkNode(child, `${path}.properties[${field}]`, errors)
  }
  if (isObject(node['additionalProperties']))
    checkNode(node['additionalProperties'], `${path}.additionalProperties`, errors)
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const parts: unknown = node[keyword]
    for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) {
      if (isObject(part)) checkBelow(part, node, `${path}.${keyword}[${index}]`, errors)
    }
  }
  if (isObject(node['not'])) checkBelow(node['not'], node, `${path}.not`, errors)
  if (node['default'] !== undefined && errors.length === 0) checkDefault(node, path, errors)
}

function checkType(node: JsonObject, path: string, errors: FieldError[]): void {
  const { type } = node
  const isFree = node['x-kubernetes-int-or-string'] === true || node['x-kubernetes-preserve-unknown-fields'] === true
  if (type === undefined || type === '') {
    if (!isFree) {
      const what = path.endsWith('.items')
        ? 'array items'
        : path.endsWith('additionalProperties')
          ? 'object fields'
          : 'object fields'
      errors.push(required(`${path}.type`, `must not be empty for specified ${what}`))
    }
  } else if (typeof type !== 'string' || !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES))
  if (node['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    errors.push(invalid(`${path}.type`, type ?? '', 'must be object if x-kubernetes-embedded-resource is true'))
  }
  if (
    node['x-kubernetes-embedded-resource'] === true &&
    node['x-kubernetes-preserve-unknown-fields'] !== true &&
    !isObject(node['properties'])
  ) {
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  }
}

function checkMetadata(node: JsonObject, path: string, errors: FieldError[]): void {
  const metadata = isObject(node['properties']) ? node['properties']['metadata'] : undefined
  if (!isObject(metadata)) return
  const { type, properties, description: _, ...rest } = metadata
  const fields = Object.keys(isObject(properties) ? properties : {})
  if (
    type === 'object' &&
    Object.keys(rest).length === 0 &&
    fields.every((field) => field === 'name' || field === 'generateName')
  )
    return
  errors.push(
    forbidden(
      `${path}.properties[metadata]`,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    ),
  )
}

function checkList(node: JsonObject, items: JsonObject, path: string, errors: FieldError[]): void {
  const type = node['x-kubernetes-list-type']
  const keys = node['x-kubernetes-list-map-keys']
  if (type !== undefined && type !== 'atomic' && type !== 'set' && type !== 'map') {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, type, ['atomic', 'map', 'set']))
  }
  if (type !== 'map') {
    if (Array.isArray(keys) && keys.length > 0) {
      errors.push(
        invalid(
          `${path}.x-kubernetes-list-type`,
          type ?? null,
          'must be map if x-kubernetes-list-map-keys is non-empty',
        ),
      )
    }
    const isPlainObject = items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic'
    if (type === 'set' && isPlainObject) {
      errors.push(
        invalid(
          `${path}.items.x-kubernetes-map-type`,
          null,
          'must be atomic as item of a list with x-kubernetes-list-type=set',
        ),
      )
    }
    return
  }
  if (items['type'] !== 'object') {
    errors.push(
      invalid(`${path}.items.type`, items['type'], "must be object if parent array's x-kubernetes-list-type is map"),
    )
    return
  }
  if (!Array.isArray(keys) || keys.length === 0) {
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'))
    return
  }
  for (const [index, key] of keys.map(String).entries()) checkKey({ key, index }, items, path, errors)
}

function checkKey(at: { key: string; index: number }, items: JsonObject, path: string, errors: FieldError[]): void {
  const { key, index } = at
  const field = isObject(items['properties']) ? items['properties'][key] : undefined
  if (!isObject(field)) {
    errors.push(
      invalid(`${path}.x-kubernetes-list-map-keys[${index}]`, key, 'entries must all be names of item properties'),
    )
  } else if (field['type'] === 'object' || field['type'] === 'array') {
    errors.push(
      invalid(
        `${path}.items.properties[${key}].type`,
        field['type'],
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      ),
    )
  } else if (!(Array.isArray(items['required']) && items['required'].includes(key)) && field['default'] === undefined) {
    errors.push(
      required(
        `${path}.items.properties[${key}].default`,
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ),
    )
  }
}

function checkBelow(part: JsonObject, parent: JsonObject, path: string, errors: FieldError[]): void {
  const isIntOrString = parent['x-kubernetes-int-or-string'] === true && Object.keys(part).join() === 'type'
  for (const keyword of NOT_BELOW) {
    if (part[keyword] === undefined || (keyword === 'type' && isIntOrString)) continue
    errors.push(
      forbidden(
        `${path}.${keyword}`,
        `must be ${keyword === 'nullable' ? 'false' : keyword === 'default' ? 'undefined' : 'empty'} to be structural`,
      ),
    )
  }
  for (const keyword of Object.keys(part)) {
    if (!keyword.startsWith('x-kubernetes-') || keyword === 'x-kubernetes-validations') continue
    errors.push(forbidden(`${path}.${keyword}`, 'must be undefined to be structural'))
  }
  for (const [field, child] of Object.entries(isObject(part['properties']) ? part['properties'] : {})) {
    if (isObject(child)) checkBelow(child, {}, `${path}.properties[${field}]`, errors)
  }
  if (isObject(part['items'])) checkBelow(part['items'], {}, `${path}.items`, errors)
}

function checkDefault(node: JsonObject, path: string, errors: FieldError[]): void {
  const value = structuredClone(node['default'])
  const schema = node as StructuralSchema
  if (pruneUnknown(value, schema).length > 0) {
    errors.push(invalid(`${path}.default`, node['default'], 'must not have unknown fields'))
    return
  }
  const found: FieldError[] = []
  validateValue({ schema, value, old: undefined, path: '' }, { errors: found, matches: matchesPattern, prefix: '' })
  for (const error of found) {
    errors.push({
      ...error,
      field: `${path}.default${error.field === '' || error.field.startsWith('<') ? '' : `.${error.field}`}`,
    })
  }
}
