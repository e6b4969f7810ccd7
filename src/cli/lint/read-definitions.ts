// Tested by src/cli/commands/preview/validate.test.ts.
/** Reads Flotilla objects from files with their places, and validates them as the hub would. */
import { isObject } from '../../core/json.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { GROUP } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { defaultObject, pruneObject, validateObject } from '../../kinds/validation/validate-object.ts'
import { finding } from '../../plan/lint/finding.ts'
import type { Finding } from '../../plan/lint/finding.ts'
import { lintFields } from '../../plan/lint/lint-fields.ts'
import type { FieldPath } from '../../plan/objects/managed-fields.ts'
import { readYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import type { YamlDocument } from '../../yaml/yaml.ts'

/** A file with objects. */
export interface NamedText {
  readonly name: string
  readonly bytes: Uint8Array
}

/** An object and its place. */
export interface Definition {
  readonly object: UnknownObject
  readonly file: string
  readonly document: YamlDocument
  /** Start of the object in the document, which can be a list. */
  readonly base: FieldPath
}

/** A finding and its place. */
export interface PlacedFinding extends Finding {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly bundle?: string
}

/** The objects of files: Flotilla's own kinds, and all other kinds. */
export interface Definitions {
  readonly own: readonly Definition[]
  readonly others: readonly Definition[]
  readonly findings: readonly PlacedFinding[]
}

/** Reads files. Documents that are not Kubernetes objects, for example values files, are skipped. */
export function readDefinitions(files: readonly NamedText[]): Definitions {
  const own: Definition[] = []
  const others: Definition[] = []
  const findings: PlacedFinding[] = []
  for (const { name, bytes } of files) {
    let documents: YamlDocument[]
    try {
      documents = readYaml(bytes, { resolver: '1.1' })
    } catch (caught) {
      if (!(caught instanceof YamlError)) throw caught
      const message = caught.message.replace(/^line \d+, column \d+: /, '')
      findings.push({ ...finding('unreadable-file', message), file: name, ...caught.position })
      continue
    }
    for (const document of documents) {
      for (const { value, base } of itemsOf(document.value)) {
        if (!isKubeObject(value)) continue
        const isOwn = value.apiVersion.startsWith(`${GROUP}/`)
        ;(isOwn ? own : others).push({ object: value, file: name, document, base })
      }
    }
  }
  return { own, others, findings }
}

function itemsOf(value: unknown): { readonly value: unknown; readonly base: FieldPath }[] {
  if (!isObject(value)) return []
  if (value['kind'] !== 'List' || !Array.isArray(value['items'])) return [{ value, base: [] }]
  return value['items'].map((item: unknown, index) => ({ value: item, base: ['items', index] }))
}

function isKubeObject(value: unknown): value is UnknownObject {
  return (
    isObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    isObject(value['metadata']) &&
    typeof value['metadata']['name'] === 'string'
  )
}

/** A finding at the place of its field. */
export function withPosition(found: Finding, { file, document, base }: Omit<Definition, 'object'>): PlacedFinding {
  const { line, column } = document.positionOf([...base, ...(found.place ?? [])])
  return { ...found, file, line, column }
}

/** Flotilla objects with defaults, and their validation errors. */
export function checkOwn(definitions: readonly Definition[]): {
  readonly objects: readonly Definition[]
  readonly findings: readonly PlacedFinding[]
} {
  const findings: PlacedFinding[] = []
  const objects: Definition[] = []
  const first = new Map<string, Definition>()
  for (const definition of definitions) {
    const say = (found: Finding) => findings.push(withPosition(found, definition))
    const { apiVersion, kind: kindName, metadata } = definition.object
    const kind = NATIVE_KINDS.find((one) => one.kind === kindName && `${one.group}/${one.version}` === apiVersion)
    if (!kind) {
      const message = `${kindName} ${metadata.name}: unknown kind ${JSON.stringify(kindName)} in ${apiVersion}`
      say(finding('unknown-kind', message, { severity: 'error', place: ['kind'] }))
      continue
    }
    for (const found of lintFields(kind, definition.object)) say(found)
    const object = storedForm(kind, definition.object)
    for (const found of wrongFields(kind, object)) say(found)
    const id = `${kind.kind} ${metadata.namespace ?? 'default'}/${metadata.name}`
    const before = first.get(id)
    if (before) {
      const { line } = before.document.positionOf(before.base)
      say(
        finding('repeated-object', `${id} is already in ${before.file}, line ${line}`, { todo: 'remove one of them' }),
      )
      continue
    }
    first.set(id, definition)
    objects.push({ ...definition, object })
  }
  return { objects, findings }
}

function storedForm(kind: Kind, given: UnknownObject): UnknownObject {
  const object = structuredClone(given)
  if (kind.scope === 'Namespaced') object.metadata.namespace ??= 'default'
  // A Cluster in a file selects content for the preview.
  const spec = object['spec']
  if (kind.kind === Cluster.kind && isObject(spec)) spec['accepted'] ??= true
  pruneObject(kind, object)
  defaultObject(kind, object)
  return object
}

function wrongFields(kind: Kind, object: UnknownObject): Finding[] {
  // The hub creates Clusters. Clusters in files are examples and need no keys.
  if (kind.kind === Cluster.kind) return []
  const who = `${object.kind} ${object.metadata.namespace === undefined ? '' : `${object.metadata.namespace}/`}${object.metadata.name}`
  return validateObject(kind, object).map(({ field, message }) =>
    finding('invalid-object', `${who}: ${field}: ${message}`, { place: placeOf(field) }),
  )
}

/** `spec.rings[0].name` as a place. */
function placeOf(field: string): FieldPath {
  return [...field.matchAll(/\[(\d+)\]|\[([^\]]+)\]|([^.[\]]+)/g)].map(([, index, key, name]) =>
    index === undefined ? (key ?? name ?? '') : Number(index),
  )
}
