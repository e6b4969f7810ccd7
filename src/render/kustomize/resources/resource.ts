/** An object of a build, with its history in annotations. */
import {
  ALLOW_KIND_CHANGE,
  ALLOW_NAME_CHANGE,
  BEHAVIOR,
  BUILD_ANNOTATIONS,
  NEEDS_HASH,
  PREFIXES,
  PREVIOUS_KINDS,
  PREVIOUS_NAMES,
  PREVIOUS_NAMESPACES,
  REFERRED_BY,
  SUFFIXES,
} from './build-annotations.ts'
import { KustomizeError } from '../kustomize-error.ts'
import {
  clearField,
  copyNode,
  fieldOf,
  isNullOrEmpty,
  lookup,
  plainScalar,
  setField,
  stringScalar,
} from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { plainValue } from '../nodes/plain-value.ts'
import { effectiveNamespace, idText, isClusterScoped, parseApiVersion } from './resource-id.ts'
import type { Gvk, ResourceId } from './resource-id.ts'
import { SINGLE_QUOTED } from '../../../yaml/node.ts'
import { goJson } from '../../../yaml/go-json.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'

/** String values by key, as labels and annotations are. */
export type StringMap = Map<string, string>

/** What a generator does to an object that is already there. */
export type Behavior = 'unspecified' | 'create' | 'replace' | 'merge'

/** An object while it is built. A patch can take away its node: then it is deleted. */
export class Resource {
  node: YamlNode | undefined
  /** The vars that take their value from here. */
  varNames: string[] = []
  #pastKey = ''
  #past: readonly ResourceId[] = []

  constructor(node: YamlNode | undefined) {
    this.node = node
  }

  get isEmpty(): boolean {
    return isNullOrEmpty(this.node)
  }

  get kind(): string {
    return fieldOf(this.node, 'kind')?.value ?? ''
  }

  get apiVersion(): string {
    return fieldOf(this.node, 'apiVersion')?.value ?? ''
  }

  get gvk(): Gvk {
    return { ...parseApiVersion(this.apiVersion), kind: this.kind }
  }

  get name(): string {
    return metaText(this.node, 'name')
  }

  get namespace(): string {
    return metaText(this.node, 'namespace')
  }

  get labels(): StringMap {
    return metaMap(this.node, 'labels')
  }

  get annotations(): StringMap {
    return metaMap(this.node, 'annotations')
  }

  annotation(key: string): string | undefined {
    const annotations = metaField(this.node, 'annotations')
    if (!annotations) return undefined
    const { content } = annotations
    for (let i = 0; i + 1 < content.length; i += 2) if (content[i]!.value === key) return content[i + 1]!.value
    return undefined
  }

  get currentId(): ResourceId {
    const { gvk } = this
    return { ...gvk, name: this.name, namespace: this.namespace, clusterScoped: isClusterScoped(gvk) }
  }

  /** All names it had before, the oldest first. */
  get previousIds(): readonly ResourceId[] {
    const names = this.annotation(PREVIOUS_NAMES)
    if (names === undefined) return []
    const namespaces = this.annotation(PREVIOUS_NAMESPACES) ?? ''
    const kinds = this.annotation(PREVIOUS_KINDS) ?? ''
    const { apiVersion } = this
    const key = `${names} ${namespaces} ${kinds} ${apiVersion}`
    if (key !== this.#pastKey) {
      this.#past = pastIds(names.split(','), namespaces.split(','), kinds.split(','), apiVersion)
      this.#pastKey = key
    }
    return this.#past
  }

  get originalId(): ResourceId {
    return this.previousIds[0] ?? this.currentId
  }

  setKind(kind: string): void {
    if (this.node) setField(this.node, 'kind', plainScalar(kind))
  }

  setApiVersion(apiVersion: string): void {
    if (this.node) setField(this.node, 'apiVersion', plainScalar(apiVersion))
  }

  setName(name: string): void {
    const metadata = lookup(this.node, ['metadata'], 'mapping')
    if (metadata) setField(metadata, 'name', plainScalar(name))
  }

  setNamespace(namespace: string): void {
    if (namespace === '') {
      clearField(lookup(this.node, ['metadata']), 'namespace')
      return
    }
    const metadata = lookup(this.node, ['metadata'], 'mapping')
    if (metadata) setField(metadata, 'namespace', plainScalar(namespace))
  }

  setLabels(labels: StringMap): void {
    setMetaMap(this.node, 'labels', labels)
  }

  setAnnotations(annotations: StringMap): void {
    setMetaMap(this.node, 'annotations', annotations)
  }

  /** Sets an annotation and keeps the order of the remaining annotations. */
  annotate(key: string, value: string): void {
    annotateNode(this.node!, key, value)
  }

  rememberId(): void {
    const id = this.currentId
    this.#appendToList(PREVIOUS_NAMES, id.name)
    this.#appendToList(PREVIOUS_NAMESPACES, effectiveNamespace(id))
    this.#appendToList(PREVIOUS_KINDS, id.kind)
  }

  addPrefix(prefix: string): void {
    this.#appendToList(PREFIXES, prefix)
  }

  addSuffix(suffix: string): void {
    this.#appendToList(SUFFIXES, suffix)
  }

  addReferrer(id: ResourceId): void {
    this.#appendToList(REFERRED_BY, idText(id))
  }

  listAnnotation(key: string): string[] {
    return this.annotation(key)?.split(',') ?? []
  }

  #appendToList(key: string, value: string): void {
    if (value === '') return
    const current = this.annotation(key)
    this.annotate(key, current === undefined ? value : `${current},${value}`)
  }

  isEnabled(key: string): boolean {
    return this.annotation(key) === 'enabled'
  }

  enable(key: string): void {
    this.setAnnotations(this.annotations.set(key, 'enabled'))
  }

  get behavior(): Behavior {
    const text = this.annotation(BEHAVIOR)
    return text === 'create' || text === 'replace' || text === 'merge' ? text : 'unspecified'
  }

  get mayChangeName(): boolean {
    return this.isEnabled(ALLOW_NAME_CHANGE)
  }

  get mayChangeKind(): boolean {
    return this.isEnabled(ALLOW_KIND_CHANGE)
  }

  copy(): Resource {
    const copied = new Resource(this.node && copyNode(this.node))
    copied.varNames = [...this.varNames]
    return copied
  }

  /** Takes labels, annotations and names from another object; its own labels and annotations win. */
  takeMetadata(other: Resource): void {
    this.setLabels(new Map([...other.labels, ...this.labels]))
    const own = this.annotations
    const theirs = other.annotations
    const merged: StringMap = new Map([...theirs, ...own])
    for (const key of BUILD_ANNOTATIONS) {
      const value = theirs.get(key)
      if (value === undefined) merged.delete(key)
      else merged.set(key, value)
    }
    if (!own.has(NEEDS_HASH)) merged.delete(NEEDS_HASH)
    this.setAnnotations(merged)
    this.setName(other.name)
    this.setNamespace(other.namespace)
    this.varNames = [...other.varNames]
  }

  removeBuildAnnotations(): void {
    const { annotations } = this
    if (annotations.size === 0) return
    for (const key of BUILD_ANNOTATIONS) annotations.delete(key)
    this.setAnnotations(annotations)
  }

  /** As messages show it. */
  toJson(): string {
    return this.node ? goJson(plainValue(this.node)) : 'null'
  }

  /** As the build prints it. */
  toYaml(): string {
    return writeYaml(this.node ? plainValue(this.node) : null)
  }
}

function pastIds(names: string[], namespaces: string[], kinds: string[], apiVersion: string): ResourceId[] {
  if (names.length !== namespaces.length || names.length !== kinds.length) {
    throw new KustomizeError(
      'number of previous names, number of previous namespaces, number of previous kinds not equal',
    )
  }
  const group = parseApiVersion(apiVersion)
  return names.map((name, i) => ({
    ...group,
    kind: kinds[i]!,
    name,
    namespace: namespaces[i]!,
    clusterScoped: false,
  }))
}

function metaField(node: YamlNode | undefined, name: string): YamlNode | undefined {
  const metadata = fieldOf(node, 'metadata')
  if (isNullOrEmpty(metadata)) return undefined
  const { content } = metadata!
  for (let i = 0; i + 1 < content.length; i += 2) if (content[i]!.value === name) return content[i + 1]
  return undefined
}

function metaText(node: YamlNode | undefined, name: string): string {
  const field = metaField(node, name)
  return isNullOrEmpty(field) ? '' : field!.value
}

function metaMap(node: YamlNode | undefined, name: string): StringMap {
  const content = metaField(node, name)?.content ?? []
  const map: StringMap = new Map()
  for (let i = 0; i + 1 < content.length; i += 2) map.set(content[i]!.value, content[i + 1]!.value)
  return map
}

function setMetaMap(node: YamlNode | undefined, name: string, map: StringMap): void {
  const metadata = lookup(node, ['metadata'], 'mapping')
  clearField(metadata, name)
  if (map.size === 0) return
  const target = lookup(metadata, [name], 'mapping')
  if (!target) return
  for (const key of [...map.keys()].sort()) setField(target, key, stringScalar(map.get(key)!))
}

/** Sets one annotation of a tree; empty annotations and an empty metadata are dropped first. */
export function annotateNode(node: YamlNode, key: string, value: string): void {
  const scalar = stringScalar(value)
  scalar.style = SINGLE_QUOTED
  clearField(lookup(node, ['metadata']), 'annotations', true)
  clearField(node, 'metadata', true)
  const annotations = lookup(node, ['metadata', 'annotations'], 'mapping')
  if (annotations) setField(annotations, key, scalar)
}

/** Sets one label of a tree. */
export function labelNode(node: YamlNode, key: string, value: string): void {
  const scalar = stringScalar(value)
  scalar.style = SINGLE_QUOTED
  const labels = lookup(node, ['metadata', 'labels'], 'mapping')
  if (labels) setField(labels, key, scalar)
}

/** The values of a mapping as text; none for what is not there. */
export function textMap(node: YamlNode | undefined): StringMap {
  const map: StringMap = new Map()
  if (node?.kind !== 'mapping') return map
  for (let i = 0; i + 1 < node.content.length; i += 2) {
    const value = node.content[i + 1]!
    const key = node.content[i]!.value
    if (!map.has(key)) map.set(key, value.tag === '!!null' ? '' : value.value)
  }
  return map
}
