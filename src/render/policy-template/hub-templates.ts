// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Templates of the hub in a check: the name and the labels of the cluster, and the metadata of the Policy. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { GoStruct } from '../gotemplate/value.ts'
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

const refuse = (): never => {
  throw new PolicyTemplateError(
    'templates of the hub read no objects here; use .ManagedClusterName, .ManagedClusterLabels and .PolicyMetadata',
  )
}
// Equal input gives an equal check on every hub and after every restart.
const NO_ENTROPY: TemplateSetting['entropy'] = { randomBytes: refuse, now: refuse, generateKey: refuse }

/** Resolves the templates of the hub; `cluster` has the fields Name and Labels, and records what is read. */
export function resolveHubTemplates(
  object: JsonObject,
  { cluster, metadata }: { readonly cluster: ReadonlyMap<string, unknown>; readonly metadata: HubPolicyMetadata },
): JsonObject {
  const text = JSON.stringify(object)
  if (!text.includes('{{hub')) return object
  const policy = new Map<string, unknown>([
    ['annotations', stringMap(metadata.annotations)],
    ['labels', stringMap(metadata.labels)],
    ['name', metadata.name],
    ['namespace', metadata.namespace],
  ])
  const context = new GoStruct('utils.hubTemplateCtx', [
    // A check that does not use the name is the same for all clusters.
    ['ManagedClusterName', text.includes('.ManagedClusterName') ? cluster.get('Name') : ''],
    ['ManagedClusterLabels', cluster.get('Labels')],
    ['PolicyMetadata', policy],
  ])
  const resolved = resolveValue(object, {
    scope: { objects: { resourceOf: refuse, get: refuse, list: refuse } },
    entropy: NO_ENTROPY,
    side: 'hub',
    context,
  })
  if (isObject(resolved)) return resolved
  throw new PolicyTemplateError('a check must be an object after its templates of the hub are resolved')
}
