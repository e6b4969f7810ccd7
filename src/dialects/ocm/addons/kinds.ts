// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** The add-on kinds of Open Cluster Management, version v1alpha1. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  int,
  listOf,
  mapOf,
  object,
  optional,
  rawObject,
  text,
} from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { RolloutStrategy } from '../replica-sets/kinds.ts'
import { WorkSpec } from '../works/kinds.ts'

const GROUP = 'addon.open-cluster-management.io'
const words = () => text({ max: 65_536 })
const MANY = { max: 10_000 }
const referent = { namespace: optional(words()), name: words() }
const resource = { group: optional(words()), resource: words() }
const configs = () => optional(listOf(object({ ...resource, ...referent }), MANY))

const hashed = () => optional(object({ ...referent, specHash: optional(words()) }))
const configReferences = () =>
  optional(listOf(object({ ...resource, ...referent, desiredConfig: hashed(), lastAppliedConfig: hashed() }), MANY))

const ClusterManagementAddOnSpec = object({
  addOnMeta: optional(object({ displayName: optional(words()), description: optional(words()) })),
  addOnConfiguration: optional(rawObject()),
  supportedConfigs: optional(listOf(object({ ...resource, defaultConfig: optional(object(referent)) }), MANY)),
  installStrategy: optional(
    object({
      type: enumOf(['Manual', 'Placements'], { default: 'Manual' }),
      placements: optional(
        listOf(
          object({ namespace: words(), name: words(), configs: configs(), rolloutStrategy: optional(RolloutStrategy) }),
          MANY,
        ),
      ),
    }),
  ),
})
const ClusterManagementAddOnStatus = object({
  conditions: Conditions,
  installProgressions: optional(
    listOf(
      object({ namespace: words(), name: words(), configReferences: configReferences(), conditions: Conditions }),
      MANY,
    ),
  ),
})
const ManagedClusterAddOnSpec = object({
  installNamespace: optional(text({ max: 63 })),
  configs: configs(),
})
const ManagedClusterAddOnStatus = object({
  conditions: Conditions,
  namespace: optional(words()),
  healthCheck: optional(object({ mode: enumOf(['Lease', 'Customized']) })),
  configReferences: configReferences(),
})
const AddOnTemplateSpec = object({
  addonName: words(),
  agentSpec: WorkSpec,
  registration: optional(listOf(rawObject(), MANY)),
})
const AddOnDeploymentConfigSpec = object({
  customizedVariables: optional(
    listOf(
      object({
        name: text({ max: 255, min: 1, pattern: '^[a-zA-Z_][_a-zA-Z0-9]*$' }),
        value: optional(text({ max: 1024 })),
      }),
      MANY,
    ),
  ),
  nodePlacement: optional(
    object({ nodeSelector: optional(mapOf(words(), MANY)), tolerations: optional(listOf(rawObject(), MANY)) }),
  ),
  registries: optional(listOf(object({ mirror: words(), source: optional(words()) }), MANY)),
  proxyConfig: optional(
    object({
      httpProxy: optional(words()),
      httpsProxy: optional(words()),
      noProxy: optional(words()),
      caBundle: optional(text({ max: 1_048_576 })),
    }),
  ),
  agentInstallNamespace: optional(text({ max: 63 })),
  resourceRequirements: optional(listOf(object({ containerID: words(), resources: rawObject() }), MANY)),
  replicaConfigs: optional(listOf(object({ workloadID: words(), replicas: int() }), MANY)),
})

export interface ClusterManagementAddOn extends KubeObject {
  spec: Static<typeof ClusterManagementAddOnSpec>
  status?: Static<typeof ClusterManagementAddOnStatus>
}

export interface ManagedClusterAddOn extends KubeObject {
  spec?: Static<typeof ManagedClusterAddOnSpec>
  status?: Static<typeof ManagedClusterAddOnStatus>
}

export interface AddOnTemplate extends KubeObject {
  spec: Static<typeof AddOnTemplateSpec>
}

export interface AddOnDeploymentConfig extends KubeObject {
  spec: Static<typeof AddOnDeploymentConfigSpec>
}

const condition = (name: string) => ({
  name,
  type: 'string' as const,
  jsonPath: `.status.conditions[?(@.type=="${name}")].status`,
})

/** An add-on, and the clusters that it is installed on. */
export const ClusterManagementAddOn: Kind<ClusterManagementAddOn> = kindOf<ClusterManagementAddOn>({
  group: GROUP,
  version: 'v1alpha1',
  kind: 'ClusterManagementAddOn',
  plural: 'clustermanagementaddons',
  scope: 'Cluster',
  shortNames: ['cma'],
  description: 'Add-on of Open Cluster Management, with its default configurations and the clusters that it is on.',
  subresources: { status: true },
  fields: { spec: toStructural(ClusterManagementAddOnSpec), status: toStructural(ClusterManagementAddOnStatus) },
  columns: [{ name: 'Display Name', type: 'string', jsonPath: '.spec.addOnMeta.displayName' }, AGE],
})

/** An add-on on the cluster whose name the namespace has. */
export const ManagedClusterAddOn: Kind<ManagedClusterAddOn> = kindOf<ManagedClusterAddOn>({
  group: GROUP,
  version: 'v1alpha1',
  kind: 'ManagedClusterAddOn',
  plural: 'managedclusteraddons',
  scope: 'Namespaced',
  shortNames: ['mca', 'mcas'],
  description: 'Add-on of Open Cluster Management on the cluster whose name the namespace has.',
  subresources: { status: true },
  events: { warnWhenFalse: ['Configured'] },
  fields: { spec: toStructural(ManagedClusterAddOnSpec), status: toStructural(ManagedClusterAddOnStatus) },
  columns: [condition('Available'), condition('Degraded'), condition('Progressing')],
})

/** The manifests of an add-on. */
export const AddOnTemplate: Kind<AddOnTemplate> = kindOf<AddOnTemplate>({
  group: GROUP,
  version: 'v1alpha1',
  kind: 'AddOnTemplate',
  plural: 'addontemplates',
  scope: 'Cluster',
  description: 'Manifests of an add-on of Open Cluster Management.',
  fields: { spec: toStructural(AddOnTemplateSpec) },
  columns: [{ name: 'Addon Name', type: 'string', jsonPath: '.spec.addonName' }],
})

/** Variables and settings of an add-on. */
export const AddOnDeploymentConfig: Kind<AddOnDeploymentConfig> = kindOf<AddOnDeploymentConfig>({
  group: GROUP,
  version: 'v1alpha1',
  kind: 'AddOnDeploymentConfig',
  plural: 'addondeploymentconfigs',
  scope: 'Namespaced',
  description: 'Variables and settings of add-ons of Open Cluster Management.',
  fields: { spec: toStructural(AddOnDeploymentConfigSpec) },
  columns: [AGE],
})

/** The add-on kinds that the hub serves. */
export const OCM_ADDON_KINDS: readonly Kind[] = [
  ClusterManagementAddOn,
  ManagedClusterAddOn,
  AddOnTemplate,
  AddOnDeploymentConfig,
]
