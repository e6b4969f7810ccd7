// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Templates of the hub in a check: they read the cluster, the metadata of the Policy, and some objects. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { GoStruct } from '../gotemplate/value.ts'
import type { TemplateObjects } from './cluster-lookup.ts'
import { stringMap } from './go-object.ts'
import { PolicyTemplateError, resolveValue } from './resolve-template.ts'
import type { TemplateSetting } from './resolve-template.ts'

/** The metadata of a Policy. */
export interface HubPolicyMetadata {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

// Equal input gives an equal check on every hub and after every restart.
const refuse = (): never => {
  throw new PolicyTemplateError('templates of the hub may not use random values or the time: each render would differ')
}
const NO_ENTROPY: TemplateSetting['entropy'] = { randomBytes: refuse, now: refuse, generateKey: refuse }

/** What templates of the hub are resolved with. */
export interface HubScene {
  /** Has the fields Name and Labels, and records what is read. */
  readonly cluster: ReadonlyMap<string, unknown>
  readonly metadata: HubPolicyMetadata
  /** The objects in the namespace of the Policy, and the ManagedCluster. */
  readonly objects: TemplateObjects
  /** Whether templates read with the rights of a ServiceAccount, and name the namespace of what they read. */
  readonly hasAccount: boolean
}

/** The kind of which templates may read the object of the cluster. */
const OWN_CLUSTER = { group: 'cluster.open-cluster-management.io', kind: 'ManagedCluster' }

/** Resolves the templates of the hub. */
export function resolveHubTemplates(
  object: JsonObject,
  { cluster, metadata, objects, hasAccount }: HubScene,
): JsonObject {
  const text = JSON.stringify(object)
  if (!text.includes('{{hub')) return object
  const policy = new Map<string, unknown>([
    ['annotations', stringMap(metadata.annotations)],
    ['labels', stringMap(metadata.labels)],
    ['name', metadata.name],
    ['namespace', metadata.namespace],
  ])
  // The name counts as read only where a template uses the name.
  const ownCluster = {
    ...OWN_CLUSTER,
    get name() {
      return cluster.get('Name') as string
    },
  }
  const context = new GoStruct('utils.hubTemplateCtx', [
    // A check that does not use the name is the same for all clusters.
    ['ManagedClusterName', text.includes('.ManagedClusterName') ? cluster.get('Name') : ''],
    ['ManagedClusterLabels', cluster.get('Labels')],
    ['PolicyMetadata', policy],
  ])
  const resolved = resolveValue(object, {
    scope: {
      objects,
      remembersMissing: true,
      ...(!hasAccount && { namespace: metadata.namespace, allowed: [ownCluster] }),
    },
    entropy: NO_ENTROPY,
    side: 'hub',
    context,
  })
  if (isObject(resolved)) return resolved
  throw new PolicyTemplateError('a check must be an object after its templates of the hub are resolved')
}
