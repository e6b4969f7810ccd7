/** Transformers of names, namespaces, labels and annotations. */
import { HELM_GENERATED } from '../resources/build-annotations.ts'
import { visitField, visitFields } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import { KustomizeError, NodeKindError, wrapError } from '../kustomize-error.ts'
import { elementsOf, getField, isNull, isNullOrEmpty, lookup, plainScalar, setField, setScalar } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import type { Resource } from '../resources/resource.ts'
import { isClusterScoped, isSelectedBy } from '../resources/resource-id.ts'
import type { Gvk } from '../resources/resource-id.ts'
import type { Transformer } from './transformer.ts'

/** Sets entries of mappings: labels or annotations. */
export function entriesTransformer(entries: ReadonlyMap<string, string>, specs: readonly FieldSpec[]): Transformer {
  const keys = [...entries.keys()].sort()
  return (map) => {
    for (const { node } of map.resources) {
      if (!node) continue
      for (const key of keys) setEntryAt(node, specs, key, entries.get(key)!)
    }
  }
}

function setEntryAt(node: YamlNode, specs: readonly FieldSpec[], key: string, value: string): void {
  // The same node for all places of an object: that is how the original shares it.
  const scalar = plainScalar(value, '!!str')
  visitFields(node, specs, {
    set: (target) => void setField(target, key, scalar),
    createKind: 'mapping',
    createTag: '!!map',
  })
}

const UNCHANGED_NAMES: readonly Gvk[] = [
  { group: '', version: '', kind: 'CustomResourceDefinition' },
  { group: 'apiregistration.k8s.io', version: '', kind: 'APIService' },
  { group: '', version: '', kind: 'Namespace' },
]

/** Adds a prefix or a suffix to names. */
export function affixTransformer(where: 'prefix' | 'suffix', affix: string, specs: readonly FieldSpec[]): Transformer {
  return (map) => {
    for (const resource of map.resources) addAffix(resource, where, affix, specs)
  }
}

function addAffix(resource: Resource, where: 'prefix' | 'suffix', affix: string, specs: readonly FieldSpec[]): void {
  const id = resource.originalId
  if (UNCHANGED_NAMES.some((type) => isSelectedBy(id, type))) return
  for (const spec of specs) {
    if (!isSelectedBy(id, spec)) continue
    if (spec.path === 'metadata/name') {
      if (where === 'prefix') resource.addPrefix(affix)
      else resource.addSuffix(affix)
      if (affix !== '') resource.rememberId()
    }
    visitField(resource.node!, spec, {
      set: (node) => setScalar(node, plainScalar(where === 'prefix' ? affix + node.value : node.value + affix)),
      createKind: 'scalar',
      createTag: '!!str',
    })
  }
}

/** Which subjects of role bindings get the namespace. */
export type SubjectMode = '' | 'defaultOnly' | 'allServiceAccounts' | 'none'

/** What the namespace transformer is told. */
export interface NamespaceOptions {
  readonly namespace: string
  readonly specs: readonly FieldSpec[]
  readonly unsetOnly?: boolean
  readonly subjects?: SubjectMode
}

/** Puts all objects into a namespace. */
export function namespaceTransformer(options: NamespaceOptions): Transformer {
  return (map) => {
    if (options.namespace === '') return
    for (const resource of map.resources) {
      if (resource.isEmpty || resource.annotation(HELM_GENERATED) === 'true') continue
      resource.rememberId()
      setNamespace(resource, options)
      const same = map.byCurrentId(resource.currentId)
      if (same.length !== 1) {
        const list = same.map((other) => other.toJson()).join(' ')
        throw new KustomizeError(`namespace transformation produces ID conflict: [${list}]`)
      }
    }
  }
}

/** Puts one object into a namespace, with all fields that must follow. */
export function setNamespace(resource: Resource, options: NamespaceOptions): void {
  const node = resource.node!
  const { gvk } = resource
  const isBinding = gvk.kind === 'RoleBinding' || gvk.kind === 'ClusterRoleBinding'
  const set = namespaceSetter(options)
  if (!isClusterScoped(gvk)) {
    const own = { group: '', version: '', kind: '', path: 'metadata/namespace', create: true }
    visitField(node, own, { set, createKind: 'scalar' })
  }
  if (isBinding) setSubjects(node, options, set)
  const specs = options.specs.filter(
    (spec) =>
      spec.path !== 'metadata/namespace' &&
      !(resource.apiVersion !== 'v1' && spec.path === 'metadata/name') &&
      !(isBinding && isBindingSpec(spec)),
  )
  try {
    visitFields(node, specs, { set, createKind: 'scalar', createTag: '!!str' })
  } catch (caught) {
    const isKind = caught instanceof NodeKindError && caught.actual !== 'scalar'
    throw wrapError(
      caught,
      isKind ? 'namespace field specs must target scalar nodes' : 'namespace transformation failed',
    )
  }
}

function isBindingSpec({ kind, path }: FieldSpec): boolean {
  return (kind === 'RoleBinding' || kind === 'ClusterRoleBinding') && path === 'subjects/namespace'
}

function namespaceSetter({ namespace, unsetOnly }: NamespaceOptions): (node: YamlNode) => void {
  return (node) => {
    if (unsetOnly && !isNullOrEmpty(node) && node.kind === 'scalar' && node.value !== '') return
    setScalar(node, plainScalar(namespace, '!!str'))
  }
}

function setSubjects(node: YamlNode, { subjects = '' }: NamespaceOptions, set: (node: YamlNode) => void): void {
  if (subjects === 'none') return
  const list = getField(node, 'subjects')
  if (isNull(list)) return
  const [field, wanted] = subjects === 'allServiceAccounts' ? ['kind', 'ServiceAccount'] : ['name', 'default']
  try {
    for (const subject of elementsOf(list)) {
      const found = getField(subject, field)
      if (isNull(found) || found.value !== wanted) continue
      const namespace = lookup(subject, ['namespace'], 'scalar')
      if (namespace) set(namespace)
    }
  } catch (caught) {
    throw wrapError(caught, 'setting namespace on (cluster)role binding subjects')
  }
}
