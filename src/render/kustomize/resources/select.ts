/** Which objects a selector chooses. */
import { matchesSelector, parseSelector } from '../../../core/text/label-selector.ts'
import type { Selector } from '../kustomization.ts'
import { KustomizeError, messageOf } from '../kustomize-error.ts'
import { compilePattern } from '../go-regexp.ts'
import type { Resource, StringMap } from './resource.ts'
import { effectiveNamespace } from './resource-id.ts'
import type { Gvk, ResourceId } from './resource-id.ts'

/** A selector with its patterns compiled; they are anchored at both ends. */
export interface CompiledSelector {
  matchesType(gvk: Gvk): boolean
  matchesName(name: string): boolean
  matchesNamespace(namespace: string): boolean
  /** By labels and annotations. */
  matchesMetadata(resource: Resource): boolean
  readonly isEmptyId: boolean
}

/** Compiles a selector. */
export function compileSelector(selector: Selector): CompiledSelector {
  const { group = '', version = '', kind = '', name = '', namespace = '' } = selector
  const matcher = (pattern: string): ((text: string) => boolean) => {
    if (pattern === '') return () => true
    const compiled = compilePattern(`^(?:${pattern})$`)
    return (text) => compiled.test(text)
  }
  const [byGroup, byVersion, byKind] = [matcher(group), matcher(version), matcher(kind)]
  return {
    matchesType: (gvk) => byGroup(gvk.group) && byVersion(gvk.version) && byKind(gvk.kind),
    matchesName: matcher(name),
    matchesNamespace: matcher(namespace),
    matchesMetadata: (resource) =>
      matches(resource.labels, selector.labelSelector ?? '') &&
      matches(resource.annotations, selector.annotationSelector ?? ''),
    isEmptyId: group + version + kind + name + namespace === '',
  }
}

function matches(values: StringMap, selector: string): boolean {
  if (selector === '') return true
  try {
    return matchesSelector(Object.fromEntries(values), { matchExpressions: parseSelector(selector) })
  } catch (caught) {
    throw new KustomizeError(messageOf(caught))
  }
}

/** The objects that a selector chooses, by their first or their current name. */
export function selectResources(resources: readonly Resource[], selector: Selector): Resource[] {
  const compiled = compileSelector(selector)
  return resources.filter((resource) => {
    if (!compiled.matchesType(resource.gvk)) return false
    const current = resource.currentId
    const original = resource.originalId
    return (
      (compiled.matchesNamespace(effectiveNamespace(original)) ||
        compiled.matchesNamespace(effectiveNamespace(current))) &&
      (compiled.matchesName(original.name) || compiled.matchesName(current.name)) &&
      compiled.matchesMetadata(resource)
    )
  })
}

/** A selector as kustomize prints it. */
export function selectorText(selector: Selector): string {
  const id = selectorId(selector)
  const type = `${id.kind || '[noKind]'}.${id.version || '[noVer]'}.${id.group || '[noGrp]'}`
  const { annotationSelector = '', labelSelector = '' } = selector
  return `${type}/${id.name || '[noName]'}.${id.namespace || '[noNs]'}:a=${annotationSelector}:l=${labelSelector}`
}

/** The name in a selector. */
export function selectorId(selector: Selector): ResourceId {
  const { group = '', version = '', kind = '', name = '', namespace = '' } = selector
  return { group, version, kind, name, namespace, clusterScoped: false }
}
