/** The effective field specs: the built-in specs, the specs of `configurations` files and the specs of CRDs. */
import { decode, listOf, struct, text } from '../decode.ts'
import { mergeFieldSpecs } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import {
  COMMON_ANNOTATIONS,
  COMMON_LABELS,
  IMAGES,
  NAMES,
  NAMESPACES,
  NAME_REFERENCES,
  REPLICAS,
  TEMPLATE_LABELS,
  VAR_REFERENCES,
} from './field-spec-tables.ts'
import type { NameReference } from './field-spec-tables.ts'
import { fieldSpecShape } from '../kustomization.ts'
import type { FieldSpecInput } from '../kustomization.ts'
import { KustomizeError, messageOf, wrapError } from '../kustomize-error.ts'
import type { Loader } from '../loader.ts'
import { isRecord } from '../is-record.ts'
import { sameGvk } from '../resources/resource-id.ts'
import type { Gvk } from '../resources/resource-id.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'

const LISTS = [
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'templateLabels',
  'commonAnnotations',
  'varReference',
  'images',
  'replicas',
] as const

type ListName = (typeof LISTS)[number]

/** Field specs by purpose. */
export type TransformerConfig = Readonly<Record<ListName, readonly FieldSpec[]>> & {
  readonly nameReference: readonly NameReference[]
}

/** No field specs at all. */
export const EMPTY_CONFIG: TransformerConfig = {
  ...(Object.fromEntries(LISTS.map((name) => [name, []])) as unknown as Record<ListName, readonly FieldSpec[]>),
  nameReference: [],
}

/** Both together. */
export function mergeConfigs(a: TransformerConfig, b: TransformerConfig): TransformerConfig {
  if (a === b || b === EMPTY_CONFIG) return a
  // A merge into an empty list has an effect: a spec for every kind gives way to a spec for some kind that sorts before
  // it.
  if (a === EMPTY_CONFIG && b === DEFAULT_CONFIG) return b
  const merged = Object.fromEntries(
    LISTS.map((name) => {
      try {
        return [name, mergeFieldSpecs(a[name], b[name])]
      } catch (caught) {
        throw wrapError(caught, `failed to merge ${GO_NAMES[name]} fieldSpec`)
      }
    }),
  ) as unknown as Record<ListName, readonly FieldSpec[]>
  let nameReference = [...a.nameReference]
  for (const reference of b.nameReference) nameReference = addReference(nameReference, reference)
  return sorted({ ...merged, nameReference })
}

const GO_NAMES: Readonly<Record<ListName, string>> = {
  namePrefix: 'NamePrefix',
  nameSuffix: 'NameSuffix',
  namespace: 'NameSpace',
  commonLabels: 'CommonLabels',
  labels: 'Labels',
  templateLabels: 'TemplateLabels',
  commonAnnotations: 'CommonAnnotations',
  varReference: 'VarReference',
  images: 'Images',
  replicas: 'Replicas',
}

function addReference(list: readonly NameReference[], added: NameReference): NameReference[] {
  let found = false
  const result = list.map((reference) => {
    if (!sameGvk(reference, added)) return reference
    found = true
    try {
      return { ...reference, fieldSpecs: mergeFieldSpecs(reference.fieldSpecs, added.fieldSpecs) }
    } catch (caught) {
      throw wrapError(caught, 'failed to merge NameReference fieldSpec')
    }
  })
  return found ? result : [...result, added]
}

/** The kinds that kustomize puts first and last in its output. */
export const KINDS_FIRST: readonly string[] =
  'Namespace ResourceQuota StorageClass CustomResourceDefinition ServiceAccount PodSecurityPolicy Role ClusterRole RoleBinding ClusterRoleBinding ConfigMap Secret Endpoints Service LimitRange PriorityClass PersistentVolume PersistentVolumeClaim Deployment StatefulSet CronJob PodDisruptionBudget'.split(
    ' ',
  )
export const KINDS_LAST: readonly string[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

const ORDER = new Map([
  ...KINDS_FIRST.map((kind, i) => [kind, i - KINDS_FIRST.length] as const),
  ...KINDS_LAST.map((kind, i) => [kind, i + 1] as const),
])

function compareTypes(a: Gvk, b: Gvk): number {
  const order = (ORDER.get(a.kind) ?? 0) - (ORDER.get(b.kind) ?? 0)
  if (order !== 0) return order
  const [textA, textB] = [sortText(a), sortText(b)]
  return textA < textB ? -1 : textA > textB ? 1 : 0
}

/** A type as text for sorting, with marks after all letters for what is empty. */
export function sortText({ group, version, kind }: Gvk): string {
  return `${group || '~G'}_${version || '~V'}_${kind || '~K'}`
}

function sorted(config: TransformerConfig): TransformerConfig {
  const lists = Object.fromEntries(LISTS.map((name) => [name, [...config[name]].sort(compareTypes)]))
  return {
    ...(lists as unknown as Record<ListName, readonly FieldSpec[]>),
    nameReference: [...config.nameReference].sort(compareTypes),
  }
}

/** What is in force unless a kustomization adds to it. */
const DEFAULT_CONFIG: TransformerConfig = sorted({
  namePrefix: NAMES,
  nameSuffix: NAMES,
  namespace: NAMESPACES,
  commonLabels: COMMON_LABELS,
  labels: [],
  templateLabels: TEMPLATE_LABELS,
  commonAnnotations: COMMON_ANNOTATIONS,
  varReference: VAR_REFERENCES,
  images: IMAGES,
  replicas: REPLICAS,
  nameReference: NAME_REFERENCES,
})

const configShape = struct('TransformerConfig', {
  ...Object.fromEntries(LISTS.map((name) => [name, listOf(fieldSpecShape)])),
  nameReference: listOf(
    struct('NameBackReferences', { group: text, version: text, kind: text, fieldSpecs: listOf(fieldSpecShape) }),
  ),
})

/** The specs in force with the files of `configurations`. */
export function loadConfig(loader: Loader, paths: readonly string[]): TransformerConfig {
  let loaded = EMPTY_CONFIG
  for (const path of paths) loaded = mergeConfigs(loaded, readConfig(loader.load(path)))
  return mergeConfigs(DEFAULT_CONFIG, loaded)
}

function readConfig(content: Uint8Array): TransformerConfig {
  let value: unknown
  try {
    value = readFirstYaml(content, { resolver: '1.1', duplicateKeys: 'strict' }).value
  } catch (caught) {
    throw new KustomizeError(`error converting YAML to JSON: ${messageOf(caught)}`)
  }
  let raw: Record<string, readonly (FieldSpecInput & { fieldSpecs?: readonly FieldSpecInput[] })[]>
  try {
    raw = (decode(value, configShape) ?? {}) as typeof raw
  } catch (caught) {
    throw new KustomizeError(`error unmarshaling JSON: while decoding JSON: ${messageOf(caught)}`)
  }
  const lists = Object.fromEntries(LISTS.map((name) => [name, (raw[name] ?? []).map(fieldSpecOf)]))
  return sorted({
    ...(lists as unknown as Record<ListName, readonly FieldSpec[]>),
    nameReference: (raw['nameReference'] ?? []).map((reference) => ({
      group: reference.group ?? '',
      version: reference.version ?? '',
      kind: reference.kind ?? '',
      fieldSpecs: (reference.fieldSpecs ?? []).map(fieldSpecOf),
    })),
  })
}

/** A field spec with all defaults. */
export function fieldSpecOf(raw: FieldSpecInput): FieldSpec {
  const { group = '', version = '', kind = '', path = '', create = false } = raw
  return { group, version, kind, path, create }
}

/** The specs that the OpenAPI files of `crds` bring. */
export function loadCrdConfig(loader: Loader, paths: readonly string[]): TransformerConfig {
  let config = EMPTY_CONFIG
  for (const path of paths) {
    const content = loader.load(path)
    try {
      const { value } = readFirstYaml(content, { resolver: '1.1', duplicateKeys: 'last' })
      config = mergeConfigs(config, crdConfig(isRecord(value) ? value : {}))
    } catch (caught) {
      throw wrapError(caught, `unable to parse open API definition from '${path}'`)
    }
  }
  return config
}

function crdConfig(definitions: Record<string, unknown>): TransformerConfig {
  let config = EMPTY_CONFIG
  for (const [name, api] of Object.entries(definitions)) {
    const properties = propertiesOf(api)
    if (!properties['kind'] || !properties['apiVersion'] || !properties['metadata']) continue
    const found: { [K in keyof TransformerConfig]: TransformerConfig[K][number][] } = {
      ...(Object.fromEntries(LISTS.map((list) => [list, []])) as unknown as Record<ListName, FieldSpec[]>),
      nameReference: [],
    }
    collect({ definitions, kind: name.split('.').at(-1)!, found }, name, [])
    config = mergeConfigs(config, sorted(found))
  }
  return config
}

function propertiesOf(api: unknown): Record<string, unknown> {
  const schema = isRecord(api) ? (api['Schema'] ?? api['schema']) : undefined
  const properties = isRecord(schema) ? schema['properties'] : undefined
  return isRecord(properties) ? properties : {}
}

interface Collecting {
  readonly definitions: Record<string, unknown>
  readonly kind: string
  readonly found: { [K in keyof TransformerConfig]: TransformerConfig[K][number][] }
}

function collect(collecting: Collecting, type: string, path: readonly string[]): void {
  if (path.length > 100) throw new KustomizeError(`${type} refers to itself`)
  const { definitions, kind, found } = collecting
  for (const [name, property] of Object.entries(propertiesOf(definitions[type]))) {
    if (!isRecord(property)) continue
    const at = (...more: string[]): FieldSpec => ({
      group: '',
      version: '',
      kind,
      path: [...path, name, ...more].join('/'),
      create: false,
    })
    const says = (key: string): string | undefined => {
      const value = property[key]
      return typeof value === 'string' ? value : undefined
    }
    if (says('x-kubernetes-annotation') !== undefined) found.commonAnnotations.push(at())
    if (says('x-kubernetes-label-selector') !== undefined) found.commonLabels.push(at())
    if (says('x-kubernetes-identity') !== undefined) found.namePrefix.push(at())
    const version = says('x-kubernetes-object-ref-api-version')
    const target = says('x-kubernetes-object-ref-kind')
    if (version !== undefined && target !== undefined) {
      const fieldSpecs = [at(says('x-kubernetes-object-ref-name-key') ?? 'name')]
      found.nameReference.push({ group: '', version, kind: target, fieldSpecs })
    }
    if (typeof property['$ref'] === 'string') collect(collecting, property['$ref'], [...path, name])
  }
}
