// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Compiles a Policy to the checks of Bundles. Pure. */
import { compact } from '../../../../core/compact.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import { hubReadsOf, secretFunctionOf, tooManyReads } from './hub-reads.ts'
import type { HubRead } from './hub-reads.ts'
import type { Policy, PolicyDependency, PolicySet } from './kinds.ts'
import { OCM_POLICY_GROUP } from './kinds.ts'

/** The checks of a Policy. */
export interface CompiledPolicy {
  /** The checks as a text of YAML documents. */
  readonly manifests: string
  readonly checks: NonNullable<Bundle['spec']['checks']>
  /** Whether templates of the hub are resolved for each cluster. */
  readonly hasHubTemplates: boolean
  /** The ConfigMaps that templates of the hub read. */
  readonly hubReads: readonly HubRead[]
}

/** The checks, or the sentence that says why there are none. */
export type PolicyCompilation =
  | { readonly ok: true; readonly compiled: CompiledPolicy }
  | { readonly ok: false; readonly isSupported: boolean; readonly problem: string }

const EVALUATED = ['ConfigurationPolicy', 'CertificatePolicy']
/** The name of the Bundle of a Policy. */
export const policyBundle = (policy: string): string => `policy-${policy}`
/** The name of the Bundle on clusters where a binding enforces the Policy. */
export const enforcedBundle = (policy: string): string => `policy-${policy}.enforced`

/** Compiles with the action of the Policy, or to enforce. */
export function compilePolicy(
  { metadata, spec }: Pick<Policy, 'metadata' | 'spec'>,
  { enforces, sets }: { readonly enforces: boolean; readonly sets: readonly PolicySet[] },
): PolicyCompilation {
  const namespace = metadata.namespace ?? ''
  const refuse = (problem: string, isSupported = true) => ({ ok: false, isSupported, problem }) as const
  // The Bundle for clusters that enforce has a dot in its name.
  if (metadata.name.includes('.')) return refuse('metadata.name must not contain a dot')
  const objects: JsonObject[] = []
  const names = new Set<string>()
  const dependsOn: CompiledPolicy['checks']['dependsOn'] & object = []
  const ignorePending: string[] = []
  const setting = { namespace, sets }
  for (const dependency of spec.dependencies ?? []) {
    const read = readDependency(dependency, setting)
    if (typeof read === 'string') return refuse(`spec.dependencies: ${read}`, false)
    dependsOn.push(...read)
  }
  for (const [index, template] of (spec['policy-templates'] ?? []).entries()) {
    const at = `spec.policy-templates[${index}]`
    const definition = template.objectDefinition
    const { kind } = definition
    const own = isObject(definition['metadata']) ? definition['metadata'] : {}
    const { name } = own
    if (typeof name !== 'string' || name === '') return refuse(`${at}.objectDefinition.metadata.name must be set`)
    if (typeof kind !== 'string' || !EVALUATED.includes(kind)) {
      return refuse(`${at}: ${String(kind)} is not evaluated; write ${EVALUATED.join(' or ')}`, false)
    }
    if (names.has(name)) return refuse(`${at}: ${name} is the name of another template; each name may be used once`)
    names.add(name)
    for (const dependency of template.extraDependencies ?? []) {
      const read = readDependency(dependency, setting)
      if (typeof read === 'string') return refuse(`${at}.extraDependencies: ${read}`, false)
      dependsOn.push(...read.map((one) => ({ checks: [name], ...one })))
    }
    if (template.ignorePending) ignorePending.push(name)
    const given = isObject(definition['spec']) ? definition['spec'] : {}
    const action = actionOf(spec.remediationAction, given['remediationAction'], enforces)
    objects.push({
      apiVersion: `${OCM_POLICY_GROUP}/v1`,
      kind,
      metadata: compact({ name, labels: textsOf(own['labels']), annotations: textsOf(own['annotations']) }),
      spec: { ...given, ...compact({ remediationAction: action }) },
    })
  }
  if (objects.length === 0) return refuse('spec.policy-templates is empty, so there is nothing to evaluate')
  const secret = secretFunctionOf(objects)
  if (secret !== undefined) {
    const instead =
      'every reader of the Policy could read the value. Read the Secret in the cluster, with {{ fromSecret }}'
    return refuse(`a template of the hub has ${secret}, and Secrets of the hub are not read: ${instead}`, false)
  }
  const hubReads = hubReadsOf(objects)
  const tooMany = tooManyReads(hubReads)
  if (tooMany !== undefined) return refuse(tooMany, false)
  const manifests = objects.map((one) => `${JSON.stringify(one)}\n`).join('---\n')
  const checks = compact({
    dependsOn: dependsOn.length > 0 ? dependsOn : undefined,
    ignorePending: ignorePending.length > 0 ? ignorePending : undefined,
  })
  return {
    ok: true,
    compiled: { manifests, checks, hasHubTemplates: manifests.includes('{{hub'), hubReads },
  }
}

/** The action of the Policy overrides the action of its templates, except `informOnly`. */
function actionOf(policy: string | undefined, own: unknown, enforces: boolean): string | undefined {
  const given = typeof own === 'string' ? own.toLowerCase() : undefined
  if (given === 'informonly') return 'inform'
  if (enforces) return 'enforce'
  return policy?.toLowerCase() ?? given
}

type ReadDependency = NonNullable<CompiledPolicy['checks']['dependsOn']>[number]

/** The checks that a dependency waits for, or why it cannot be read. */
function readDependency(
  { apiVersion, kind, name, namespace: given, compliance }: PolicyDependency,
  { namespace, sets }: { readonly namespace: string; readonly sets: readonly PolicySet[] },
): ReadDependency[] | string {
  if (!apiVersion.startsWith(`${OCM_POLICY_GROUP}/`)) return `${kind} of ${apiVersion} cannot be waited for`
  if (given !== undefined && given !== '' && given !== namespace)
    return `${kind} ${given}/${name} is in another namespace`
  const ofPolicy = (policy: string): ReadDependency => ({
    bundles: [`${namespace}/${policyBundle(policy)}`, `${namespace}/${enforcedBundle(policy)}`],
    compliance,
  })
  if (kind === 'Policy') return [ofPolicy(name)]
  if (kind === 'PolicySet') {
    const set = sets.find(({ metadata }) => metadata.name === name)
    return set ? set.spec.policies.map(ofPolicy) : `PolicySet ${name} does not exist`
  }
  return EVALUATED.includes(kind) ? [{ kind, name, compliance }] : `${kind} is not evaluated`
}

function textsOf(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return texts.length === 0 ? undefined : Object.fromEntries(texts)
}
