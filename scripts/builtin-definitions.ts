// OpenAPI schemas in the short form of src/kinds/builtin/definitions.ts.
import type { GoField } from './go-fields.ts'

/** As much of an OpenAPI v3 schema as Kubernetes' own have. */
export interface OpenApiSchema {
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly default?: unknown
  readonly $ref?: string
  readonly allOf?: readonly OpenApiSchema[]
  readonly items?: OpenApiSchema
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly additionalProperties?: OpenApiSchema
  readonly required?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Types that are written as one letter. */
const LETTERS: Readonly<Record<string, string>> = {
  [`${META}ObjectMeta`]: 'M',
  [`${META}Time`]: 't',
  [`${META}MicroTime`]: 't',
  [`${META}FieldsV1`]: 'o',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'o',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'q',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'x',
  // A schema within a schema has no end, and is never merged field by field.
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps': 'o',
}

/** `core.v1.PodSpec` of `io.k8s.api.core.v1.PodSpec`. */
export function shortName(name: string): string {
  const parts = name.split('.')
  return parts.slice(-3).join('.')
}

/** The lines of all types that the roots lead to, by package; a type of the same package is named without it. */
export function definitionLines(
  definitions: ReadonlyMap<string, OpenApiSchema>,
  roots: ReadonlySet<string>,
  goFieldsOf: (type: string) => ReadonlyMap<string, GoField>,
): Map<string, string[]> {
  const wanted = [...roots]
  const seen = new Set(wanted)
  const packages = new Map<string, string[]>()
  for (let name = wanted.shift(); name !== undefined; name = wanted.shift()) {
    const schema = definitions.get(name)!
    const home = packageOf(name)
    const typeOf = (node: OpenApiSchema): string => {
      const reference = node.$ref ?? (node.allOf?.length === 1 ? node.allOf[0]!.$ref : undefined)
      if (reference === undefined) return plainType(node, typeOf)
      const target = reference.replace('#/components/schemas/', '')
      const letter = LETTERS[target]
      if (letter !== undefined) return letter
      if (!definitions.get(target)?.properties && definitions.get(target)?.type !== 'object') return 'a'
      if (!seen.has(target)) wanted.push(target)
      seen.add(target)
      return `@${packageOf(target) === home ? nameOf(target) : shortName(target)}`
    }
    const known = goFieldsOf(shortName(name))
    const fields = Object.entries(schema.properties ?? {}).map(([field, node]) => {
      const type = typeOf(node)
      const mark = schema.required?.includes(field) ? '!' : ''
      return `${field}${mark}:${type}${mergeOf(node)}${emptyOf(type, known.get(field))}`
    })
    const atomic = schema['x-kubernetes-map-type'] === 'atomic' ? '%' : ''
    const line = [`${nameOf(name)}${atomic}`, ...fields].join(' ')
    packages.set(home, [...(packages.get(home) ?? []), line])
  }
  return new Map([...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, lines]) => [name, lines.sort()]))
}

function packageOf(name: string): string {
  return name.split('.').slice(-3, -1).join('.')
}

function nameOf(name: string): string {
  return name.split('.').at(-1)!
}

/** `?` when Go leaves the field out although it is there and empty; otherwise what Go writes when it is absent. */
function emptyOf(type: string, field: GoField | undefined): string {
  // A field without a name of its own in Go: apiVersion and kind.
  if (!field) return '?'
  const isStruct = /^[@Mqxto]/.test(type)
  if (field.isPointer) return field.omitEmpty || field.omitZero ? '' : '=null'
  if (isStruct) return field.omitZero ? '' : `=${STRUCTS[type] ?? '{}'}`
  if (field.omitEmpty || field.omitZero) return '?'
  return `=${SCALARS[type] ?? 'null'}`
}

const STRUCTS: Readonly<Record<string, string>> = { q: '"0"', x: '0', t: 'null', o: 'null' }
const SCALARS: Readonly<Record<string, string>> = { s: '""', i: '0', l: '0', n: '0', b: 'false' }

/** `~merge/name`, when it is not what the type of the list says already. */
function mergeOf(node: OpenApiSchema): string {
  const strategy = node['x-kubernetes-patch-strategy'] ?? ''
  const key = node['x-kubernetes-patch-merge-key'] ?? ''
  const [first] = node['x-kubernetes-list-map-keys'] ?? []
  const usual = first === undefined ? strategy === '' : strategy === 'merge' && key === first
  return usual ? '' : `~${strategy}/${key}`
}

const FORMATS: Readonly<Record<string, string>> = { int32: 'i', int64: 'l', double: 'n', byte: 'y', 'date-time': 't' }

function plainType(node: OpenApiSchema, typeOf: (node: OpenApiSchema) => string): string {
  const atomic = node['x-kubernetes-map-type'] === 'atomic' ? '%' : ''
  if (node.type === 'array') return `${listMark(node)}${typeOf(node.items ?? {})}`
  if (node.type === 'object') return node.additionalProperties ? `${atomic}{}${typeOf(node.additionalProperties)}` : 'o'
  if (node.type === 'boolean') return 'b'
  if (node.type === undefined) return 'a'
  return FORMATS[node.format ?? ''] ?? (node.type === 'string' ? 's' : node.type === 'integer' ? 'l' : 'n')
}

function listMark(node: OpenApiSchema): string {
  const keys = node['x-kubernetes-list-map-keys']
  if (keys) return `[${keys.join('+')}]`
  return node['x-kubernetes-list-type'] === 'set' ? '[=]' : '[]'
}
