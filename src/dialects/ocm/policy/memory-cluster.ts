// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** A cluster of objects in memory, for the dry run of policies. */
import { goJson } from '../../../yaml/go-json.ts'
import { copyOf, textAt } from '../../../plan/policy/go-value.ts'
import type { GoObject } from '../../../plan/policy/go-value.ts'
import { ClusterRefusal } from '../../../plan/policy/policy-ports.ts'
import type { PolicyCluster, PolicyResource } from '../../../plan/policy/policy-ports.ts'
import { labelsOf } from '../../../plan/policy/select-labels.ts'
import type { TemplateObjects } from '../../../render/policy-template/cluster-lookup.ts'
import type { ApiKind } from './api-kinds.ts'

/** The cluster, and the same objects for templates. */
export interface MemoryCluster extends PolicyCluster {
  readonly objects: TemplateObjects
  /** Adds an object; one that is already there stays. */
  add(resource: PolicyResource, object: GoObject): void
}

/** A cluster that serves the given kinds. */
export function memoryCluster(kinds: readonly ApiKind[]): MemoryCluster {
  const served = new Map(kinds.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]))
  const stores = new Map<string, Map<string, GoObject>>()
  const storeOf = ({ apiVersion, resource }: PolicyResource): Map<string, GoObject> => {
    const id = `${apiVersion} ${resource}`
    const known = stores.get(id)
    if (known) return known
    const made = new Map<string, GoObject>()
    stores.set(id, made)
    return made
  }
  const keyOf = (namespace: string, name: string): string => `${namespace}\u0000${name}`
  const keyOfObject = (object: GoObject): string =>
    keyOf(textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name'))
  const resourceOf = (apiVersion: string, kind: string): PolicyResource | undefined => {
    const found = served.get(`${apiVersion} ${kind}`)
    return found && { apiVersion, kind, resource: found.plural, namespaced: found.namespaced }
  }
  const all = (resource: PolicyResource, namespace: string): GoObject[] =>
    [...storeOf(resource)]
      .filter(([, object]) => namespace === '' || textAt(object, 'metadata', 'namespace') === namespace)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => copyOf(object))
  const write = (resource: PolicyResource, object: GoObject): GoObject => {
    if (!storeOf(resource).has(keyOfObject(object))) throw notFound(resource, object)
    storeOf(resource).set(keyOfObject(object), copyOf(object))
    return copyOf(object)
  }
  const cluster: PolicyCluster = {
    resourceOf,
    get: (resource, namespace, name) => {
      const found = storeOf(resource).get(keyOf(resource.namespaced ? namespace : '', name))
      return found && copyOf(found)
    },
    list: (resource, namespace, matches) =>
      all(resource, resource.namespaced ? namespace : '').filter((object) => matches(labelsOf(object))),
    namespaces: () => namespacesOf(resourceOf('v1', 'Namespace'), all),
    // The client that the original uses in its dry run stores the update of a dry run too.
    dryRunUpdate: write,
    update: write,
    create: (resource, object) => {
      if (storeOf(resource).has(keyOfObject(object))) {
        throw new ClusterRefusal('AlreadyExists', `${resource.resource} "${nameOf(object)}" already exists`)
      }
      storeOf(resource).set(keyOfObject(object), copyOf(object))
      return copyOf(object)
    },
    delete: (resource, namespace, name) => {
      storeOf(resource).delete(keyOf(namespace, name))
      return true
    },
  }
  return {
    ...cluster,
    add: (resource, object) => {
      const store = storeOf(resource)
      if (!store.has(keyOfObject(object))) store.set(keyOfObject(object), copyOf(object))
    },
    objects: {
      resourceOf: ({ apiVersion, kind }) => {
        const found = served.get(`${apiVersion} ${kind}`)
        return found && { group: found.group, resource: found.plural, namespaced: found.namespaced }
      },
      get: ({ apiVersion, kind, namespace, name }) =>
        plain(cluster.get(resourceOf(apiVersion, kind)!, namespace, name)),
      list: ({ apiVersion, kind, namespace, labels }) =>
        cluster.list(resourceOf(apiVersion, kind)!, namespace, labels.matches).map((object) => plain(object)!),
    },
  }
}

function namespacesOf(
  resource: PolicyResource | undefined,
  all: (resource: PolicyResource, namespace: string) => GoObject[],
): ReturnType<PolicyCluster['namespaces']> {
  const kind = resource ?? { apiVersion: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false }
  // A created object is never in deletion, whatever its file says.
  return all(kind, '').map((object) => ({ name: nameOf(object), labels: labelsOf(object), isTerminating: false }))
}

function apiVersionOf({ group, version }: ApiKind): string {
  return group === '' ? version : `${group}/${version}`
}

function nameOf(object: GoObject): string {
  return textAt(object, 'metadata', 'name')
}

function notFound(resource: PolicyResource, object: GoObject): ClusterRefusal {
  return new ClusterRefusal('NotFound', `${resource.resource} "${nameOf(object)}" not found`)
}

function plain(object: GoObject | undefined): Record<string, unknown> | undefined {
  return object && (JSON.parse(goJson(object)) as Record<string, unknown>)
}
