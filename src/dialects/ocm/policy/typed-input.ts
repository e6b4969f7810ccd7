// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** Why an input object is not of its kind: the dry run of the original decodes built-in kinds into Go structs. */
import { typeNameOfSchema } from '../../../kinds/builtin/definitions.ts'
import { findBuiltinKind } from '../../../kinds/builtin/kind-table.ts'
import type { StructuralSchema } from '../../../kinds/schema/structural.ts'
import { isGoObject, textAt } from '../../../plan/policy/go-value.ts'
import type { GoObject, GoValue } from '../../../plan/policy/go-value.ts'
import { decodeProblem, METADATA_TYPE, textType } from './go-types.ts'
import type { GoStructType, GoType } from './go-types.ts'

/** The first problem in the words of the original; undefined if there is none, or the kind is not built in. */
export function typeProblem(object: GoObject): string | undefined {
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')]
  const found = findBuiltinKind(apiVersion, kind)
  if (!found) return undefined
  const name = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`
  const fields = fieldsOf(found.schema, kind)
  const type: GoStructType = { struct: kind, name, fields: { ...fields, metadata: METADATA_TYPE } }
  const problem = decodeProblem(object, type, { strict: false })
  if (problem !== undefined) {
    return `failed to unmarshal the content of *unstructured.Unstructured into *${name}: ${problem}`
  }
  if (!hasItemWithoutKey(object, found.schema)) return undefined
  const [namespace, own] = [textAt(object, 'metadata', 'namespace') || 'default', textAt(object, 'metadata', 'name')]
  const place = found.scope === 'Namespaced' ? `${namespace}/${own}` : `/${own}`
  const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  return `failed to update ManagedFields (${place}; ${group}, Kind=${kind}): failed to compare objects: expected objects with types from the same schema`
}

/** Whether a list that is merged by a key has an item without it; the owners of fields cannot be told then. */
function hasItemWithoutKey(value: GoValue, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) {
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    // Go writes a required field also where the object leaves it out.
    const { required = [], properties = {} } = schema.items ?? {}
    const isWritten = keys.some((key) => required.includes(key) || properties[key]?.default !== undefined)
    return value.some((item) => {
      if (isGoObject(item) && keys.length > 0 && !isWritten && !keys.some((key) => Object.hasOwn(item, key)))
        return true
      return schema.items !== undefined && hasItemWithoutKey(item, schema.items)
    })
  }
  if (!isGoObject(value)) return false
  return Object.entries(value).some(([key, item]) => {
    const field = schema.properties?.[key]
    return field !== undefined && hasItemWithoutKey(item, field)
  })
}

const types = new WeakMap<object, GoStructType>()

/** Texts that have a type of their own in Go. */
const NAMED_TEXTS: Readonly<Record<string, string>> = {
  'LimitRangeItem.type': 'v1.LimitType',
  'Secret.type': 'v1.SecretType',
  'ServiceSpec.type': 'v1.ServiceType',
  'ServicePort.protocol': 'v1.Protocol',
  'ContainerPort.protocol': 'v1.Protocol',
  'Container.imagePullPolicy': 'v1.PullPolicy',
  'PodSpec.restartPolicy': 'v1.RestartPolicy',
  'PodSpec.dnsPolicy': 'v1.DNSPolicy',
  'PodStatus.phase': 'v1.PodPhase',
  'NamespaceStatus.phase': 'v1.NamespacePhase',
  'LabelSelectorRequirement.operator': 'v1.LabelSelectorOperator',
}

/** Maps of bytes: the table of types has them as texts. */
const BYTES = new Set(['Secret.data', 'ConfigMap.binaryData'])

function fieldsOf(schema: StructuralSchema, struct: string): Record<string, GoType> {
  const fields: Record<string, GoType> = {}
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    fields[name] = BYTES.has(`${struct}.${name}`)
      ? { map: { scalar: 'bytes', name: '[]uint8' } }
      : typeOf(field, `${struct}.${name}`)
  }
  return fields
}

function typeOf(schema: StructuralSchema, place: string): GoType {
  switch (schema.type) {
    case 'string':
      return schema.format === undefined ? textType(NAMED_TEXTS[place]) : 'any'
    case 'boolean':
      return { scalar: 'bool', name: 'bool' }
    case 'integer':
      return { scalar: 'int', name: schema.format ?? 'int64' }
    case 'number':
      return { scalar: 'float', name: 'float64' }
    case 'array':
      return schema.items ? { list: typeOf(schema.items, place) } : 'any'
    case 'object':
      return objectType(schema)
    default:
      return 'any'
  }
}

function objectType(schema: StructuralSchema): GoType {
  const { additionalProperties: values } = schema
  if (typeof values === 'object') {
    const isQuantities = values['x-kubernetes-int-or-string'] === true
    return { map: typeOf(values, ''), ...(isQuantities && { name: 'v1.ResourceList' }) }
  }
  const full = typeNameOfSchema(schema)
  if (full === undefined || !schema.properties) return 'any'
  const known = types.get(schema.properties)
  if (known) return known
  const [struct = '', version = ''] = full.split('.').reverse()
  const fields: Record<string, GoType> = {}
  const type: GoStructType = { struct, name: `${version}.${struct}`, fields }
  // Kept before its fields are read, because some types hold themselves.
  types.set(schema.properties, type)
  Object.assign(fields, fieldsOf(schema, struct))
  return type
}
