/** Updates fields that refer to renamed objects. */
import { PREFIXES, SUFFIXES } from '../resources/build-annotations.ts'
import { visitField } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import type { NameReference } from './field-spec-tables.ts'
import { KustomizeError, wrapError } from '../kustomize-error.ts'
import { fieldOf, getField, isNull, plainScalar, setField, setScalar } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import type { Resource } from '../resources/resource.ts'
import { NOT_A_NAMESPACE, effectiveNamespace, idText, isSelectedBy } from '../resources/resource-id.ts'
import type { Gvk } from '../resources/resource-id.ts'

/** Updates every name reference of all objects. */
export function updateNameReferences(resources: readonly Resource[], references: readonly NameReference[]): void {
  const candidates = new Candidates(resources)
  for (const referrer of resources) {
    const id = referrer.originalId
    let reachable: readonly Resource[] | undefined
    for (const reference of references) {
      for (const spec of reference.fieldSpecs) {
        if (!isSelectedBy(id, spec)) continue
        reachable ??= candidates.reachableFrom(referrer)
        updateField({ referrer, spec, target: reference, candidates: reachable })
      }
    }
  }
}

interface Update {
  readonly referrer: Resource
  readonly spec: FieldSpec
  readonly target: Gvk
  readonly candidates: readonly Resource[]
}

class Candidates {
  readonly #resources: readonly Resource[]

  constructor(resources: readonly Resource[]) {
    this.#resources = resources
  }

  /**
   * The scope of an object's references: the cluster, its own namespace, and the namespaces of its service accounts.
   */
  reachableFrom(referrer: Resource): readonly Resource[] {
    const id = referrer.currentId
    if (id.clusterScoped) return this.#resources
    const namespace = effectiveNamespace(id)
    const others = subjectNamespaces(referrer)
    return this.#resources.filter((resource) => {
      const target = resource.currentId
      return target.clusterScoped || effectiveNamespace(target) === namespace || others.has(resource.namespace)
    })
  }
}

function subjectNamespaces(referrer: Resource): Set<string> {
  const found = new Set<string>()
  if (referrer.kind !== 'RoleBinding') return found
  const subjects = fieldOf(referrer.node, 'subjects')
  if (subjects?.kind !== 'sequence') return found
  for (const subject of subjects.content) {
    const namespace = fieldOf(subject, 'namespace')
    if (!namespace || fieldOf(subject, 'kind')?.value !== 'ServiceAccount') continue
    if (isNull(namespace)) {
      throw new KustomizeError(`Invalid Input: namespace is blank for resource "${idText(referrer.currentId)}"\n`)
    }
    found.add(namespace.value)
  }
  return found
}

function updateField(update: Update): void {
  const { referrer, spec } = update
  try {
    const { gvk } = referrer
    visitField(referrer.node!, { ...spec, ...gvk }, { set: (node) => setReference(node, update) })
  } catch (caught) {
    throw wrapError(caught, `updating name reference in '${spec.path}' field of '${idText(referrer.currentId)}'`)
  }
}

function setReference(node: YamlNode, update: Update): void {
  if (isNull(node)) return
  switch (node.kind) {
    case 'scalar':
      return setName(node, update)
    case 'mapping':
      return setMapping(node, update)
    case 'sequence':
      for (const item of node.content) {
        if (isNull(item)) continue
        if (item.kind === 'scalar') setName(item, update)
        else if (item.kind === 'mapping') setMapping(item, update)
        else throw new KustomizeError('a list item is expected to be either a string or a map of string')
      }
      return
    default:
      throw new KustomizeError('node must be a scalar, sequence or map')
  }
}

function setName(node: YamlNode, update: Update): void {
  const found = choose(node.value, update, update.candidates, (resources) => sameNames(resources, false))
  if (!found) return
  found.addReferrer(update.referrer.currentId)
  if (found.name !== node.value) setScalar(node, plainScalar(found.name))
}

function setMapping(node: YamlNode, update: Update): void {
  const nameNode = getField(node, 'name')
  if (!nameNode) throw new KustomizeError("path config error; no 'name' field in node")
  const old = nameNode.value
  const found = choose(old, update, candidatesFor(node, update.candidates), (resources) => sameNames(resources, true))
  if (!found) return
  found.addReferrer(update.referrer.currentId)
  const { name, namespace } = found
  if (name === old && namespace === '') return
  setField(node, 'name', plainScalar(name))
  if (namespace !== '') setField(node, 'namespace', plainScalar(namespace))
}

function candidatesFor(node: YamlNode, candidates: readonly Resource[]): readonly Resource[] {
  const field = getField(node, 'namespace')
  if (!field) return candidates
  const { value } = field
  if (value === NOT_A_NAMESPACE) return []
  const original = candidates.filter((resource) => effectiveNamespace(resource.originalId) === value)
  if (original.length > 0) return original
  return candidates.filter((resource) => effectiveNamespace(resource.currentId) === value)
}

function sameNames(resources: readonly Resource[], withNamespaces: boolean): boolean {
  const { name, namespace } = resources[0]!
  return resources.every((other) => other.name === name && (!withNamespaces || other.namespace === namespace))
}

function choose(
  old: string,
  update: Update,
  candidates: readonly Resource[],
  areIdentical: (resources: readonly Resource[]) => boolean,
): Resource | undefined {
  const { referrer, target } = update
  let found = candidates.filter((resource) => {
    const past = resource.previousIds
    return past.some((id) => id.name === old) && past.some((id) => isSelectedBy(id, target))
  })
  if (found.length === 0) return undefined
  const role = roleType(update)
  if (role) found = found.filter((resource) => resource.previousIds.some((id) => isSelectedBy(id, role)))
  found = found.filter((resource) => isNear(resource, referrer))
  if (found.length === 1) return found[0]
  found = found.filter((resource) => sameAffixes(resource, referrer, true))
  if (found.length > 1) found = found.filter((resource) => sameAffixes(resource, referrer, false))
  if (found.length <= 1 || areIdentical(found)) return found[0]
  const ids = found.map((resource) => idText(resource.currentId)).join(', ')
  const details = found.map((resource, i) => `--- possible referral ${i}:\n${resource.toYaml()}\n`).join('')
  throw new KustomizeError(
    `found multiple possible referrals: ${ids}\n\n**** Too many possible referral targets to referrer:\n${referrer.toYaml()}\n${details}`,
  )
}

function roleType({ spec, referrer }: Update): Gvk | undefined {
  if (!spec.path.endsWith('roleRef/name')) return undefined
  const role = fieldOf(referrer.node, 'roleRef')
  const group = fieldOf(role, 'apiGroup')
  const kind = fieldOf(role, 'kind')
  return group && kind ? { group: group.value, version: '', kind: kind.value } : undefined
}

function isNear(resource: Resource, referrer: Resource): boolean {
  const from = referrer.currentId
  const id = resource.currentId
  if (from.clusterScoped || id.clusterScoped || id.kind === 'ServiceAccount') return true
  return effectiveNamespace(from) === effectiveNamespace(id)
}

function sameAffixes(a: Resource, b: Resource, allowEmpty: boolean): boolean {
  return [PREFIXES, SUFFIXES].every((key) => {
    const [listA, listB] = [a.listAnnotation(key), b.listAnnotation(key)]
    if (allowEmpty && (listA.length === 0 || listB.length === 0)) return true
    return endAlike(listA, listB)
  })
}

function endAlike(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length > b.length ? [b, a] : [a, b]
  if (short.length === 0) return long.length === 0
  const shift = long.length - short.length
  return short.every((item, i) => long[i + shift] === item)
}
