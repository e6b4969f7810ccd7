/**
 * What view and edit in a namespace allow there on each resource that a hub serves, as letters: get, list, watch,
 * create, update, patch, delete, and D for deletecollection. A resource without a row fails the walk: a new kind needs
 * a decision.
 */

const READ = 'glw'
const WRITE = 'Dcdglpuw'

type Row = readonly [view: string, edit: string]

const NOTHING: Row = ['', '']
const READABLE: Row = [READ, READ]
const WRITABLE: Row = [READ, WRITE]
/** Subresources have no list and watch. */
const SHOWN: Row = ['g', 'g']

const NATIVE: Readonly<Record<string, Row>> = {
  clusters: NOTHING,
  'clusters/status': NOTHING,
  clustersets: NOTHING,
  clustersetbindings: NOTHING,
  projects: NOTHING,
  'projects/status': NOTHING,
  jointokens: NOTHING,
  'jointokens/status': NOTHING,
  sources: NOTHING,
  'sources/status': SHOWN,
  bundles: WRITABLE,
  'bundles/status': SHOWN,
  overrides: NOTHING,
  deliveries: READABLE,
  'deliveries/status': SHOWN,
  placements: WRITABLE,
  'placements/status': SHOWN,
  placementdecisions: READABLE,
  releases: READABLE,
  'releases/status': SHOWN,
  rolloutplans: READABLE,
  rollouts: [READ, 'glpuw'],
  'rollouts/status': SHOWN,
  approvals: READABLE,
  windows: NOTHING,
  'windows/status': SHOWN,
  clusterwindows: NOTHING,
  'clusterwindows/status': NOTHING,
  assignments: NOTHING,
  clusterreports: NOTHING,
}

/** Administrators grant rights on the kinds of Fleet, as in Fleet. */
const FLEET: Readonly<Record<string, Row>> = {
  bundlenamespacemappings: NOTHING,
  bundles: NOTHING,
  'bundles/status': NOTHING,
  clustergroups: NOTHING,
  'clustergroups/status': NOTHING,
  clusters: NOTHING,
  'clusters/status': NOTHING,
  clusterregistrations: NOTHING,
  'clusterregistrations/status': NOTHING,
  clusterregistrationtokens: NOTHING,
  'clusterregistrationtokens/status': NOTHING,
  contents: NOTHING,
  gitreporestrictions: NOTHING,
  gitrepos: NOTHING,
  'gitrepos/status': NOTHING,
  helmops: NOTHING,
  'helmops/status': NOTHING,
  imagescans: NOTHING,
}

/**
 * What acts within the Project of its namespace can be written there; works and add-ons use the rights of the agent.
 */
const OCM_CLUSTER: Readonly<Record<string, Row>> = {
  addonplacementscores: READABLE,
  'addonplacementscores/status': NOTHING,
  managedclusters: NOTHING,
  'managedclusters/status': NOTHING,
  managedclustersets: NOTHING,
  'managedclustersets/status': NOTHING,
  managedclustersetbindings: WRITABLE,
  'managedclustersetbindings/status': NOTHING,
  placements: WRITABLE,
  'placements/status': NOTHING,
  placementdecisions: READABLE,
  'placementdecisions/status': NOTHING,
}

const OCM_WORK: Readonly<Record<string, Row>> = {
  manifestworks: NOTHING,
  'manifestworks/status': NOTHING,
  manifestworkreplicasets: WRITABLE,
  'manifestworkreplicasets/status': NOTHING,
}

const OCM_ADDON: Readonly<Record<string, Row>> = {
  addondeploymentconfigs: NOTHING,
  addontemplates: NOTHING,
  clustermanagementaddons: NOTHING,
  'clustermanagementaddons/status': NOTHING,
  managedclusteraddons: NOTHING,
  'managedclusteraddons/status': NOTHING,
}

/** A Policy acts within the Project of its namespace, like a Bundle. */
const OCM_POLICY: Readonly<Record<string, Row>> = {
  policies: WRITABLE,
  'policies/status': NOTHING,
  policysets: WRITABLE,
  'policysets/status': NOTHING,
  placementbindings: WRITABLE,
  configurationpolicies: WRITABLE,
  'configurationpolicies/status': NOTHING,
  certificatepolicies: WRITABLE,
  'certificatepolicies/status': NOTHING,
}

const OCM_APPS: Readonly<Record<string, Row>> = {
  placementrules: WRITABLE,
  'placementrules/status': NOTHING,
}

/** An AppProject limits users who may write Applications, so only admin writes it. */
const ARGO: Readonly<Record<string, Row>> = {
  applications: WRITABLE,
  'applications/status': NOTHING,
  applicationsets: WRITABLE,
  'applicationsets/status': NOTHING,
  appprojects: READABLE,
}

const FLUX_SOURCE: Readonly<Record<string, Row>> = {
  gitrepositories: WRITABLE,
  'gitrepositories/status': NOTHING,
  buckets: WRITABLE,
  'buckets/status': NOTHING,
  helmrepositories: WRITABLE,
  'helmrepositories/status': NOTHING,
  helmcharts: WRITABLE,
  'helmcharts/status': NOTHING,
  ocirepositories: WRITABLE,
  'ocirepositories/status': NOTHING,
}

const FLUX_KUSTOMIZE: Readonly<Record<string, Row>> = {
  kustomizations: WRITABLE,
  'kustomizations/status': NOTHING,
}

const FLUX_HELM: Readonly<Record<string, Row>> = {
  helmreleases: WRITABLE,
  'helmreleases/status': NOTHING,
}

const KARMADA_POLICY: Readonly<Record<string, Row>> = {
  propagationpolicies: WRITABLE,
  'propagationpolicies/status': NOTHING,
  clusterpropagationpolicies: NOTHING,
  'clusterpropagationpolicies/status': NOTHING,
  overridepolicies: WRITABLE,
  'overridepolicies/status': NOTHING,
  clusteroverridepolicies: NOTHING,
  'clusteroverridepolicies/status': NOTHING,
  clustertaintpolicies: NOTHING,
}

const KARMADA_WORK: Readonly<Record<string, Row>> = {
  resourcebindings: READABLE,
  'resourcebindings/status': NOTHING,
  clusterresourcebindings: NOTHING,
  'clusterresourcebindings/status': NOTHING,
}

const KARMADA_CLUSTER: Readonly<Record<string, Row>> = {
  clusters: NOTHING,
  'clusters/status': NOTHING,
}

const KARMADA_APPS: Readonly<Record<string, Row>> = {
  workloadrebalancers: NOTHING,
  'workloadrebalancers/status': NOTHING,
}

/** The rows by group. */
export const PERMISSIONS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'flotilla.dev': NATIVE,
  'fleet.cattle.io': FLEET,
  'cluster.open-cluster-management.io': OCM_CLUSTER,
  'work.open-cluster-management.io': OCM_WORK,
  'addon.open-cluster-management.io': OCM_ADDON,
  'policy.open-cluster-management.io': OCM_POLICY,
  'apps.open-cluster-management.io': OCM_APPS,
  'argoproj.io': ARGO,
  'source.toolkit.fluxcd.io': FLUX_SOURCE,
  'kustomize.toolkit.fluxcd.io': FLUX_KUSTOMIZE,
  'helm.toolkit.fluxcd.io': FLUX_HELM,
  'policy.karmada.io': KARMADA_POLICY,
  'work.karmada.io': KARMADA_WORK,
  'cluster.karmada.io': KARMADA_CLUSTER,
  'apps.karmada.io': KARMADA_APPS,
  'autoscaling.karmada.io': { federatedhpas: NOTHING, cronfederatedhpas: NOTHING },
  'remedy.karmada.io': { remedies: NOTHING },
  'config.karmada.io': { resourceinterpreterwebhookconfigurations: NOTHING },
}

/** The names of all rows, as `plural.group`. */
export function permissionRows(): readonly string[] {
  return Object.entries(PERMISSIONS).flatMap(([group, rows]) => Object.keys(rows).map((name) => `${name}.${group}`))
}

/** Whether a walk covers a group: all groups that Kubernetes itself does not have, except for read-only views. */
export function isWalkedGroup(group: string): boolean {
  return group.includes('.') && !group.endsWith('.k8s.io') && group !== 'view.flotilla.dev'
}

/** What view or edit allows, as a walk finds it. */
export function allowedBy(role: 'view' | 'edit'): Record<string, string> {
  const at = role === 'view' ? 0 : 1
  return Object.fromEntries(
    Object.entries(PERMISSIONS).flatMap(([group, rows]) =>
      Object.entries(rows).flatMap(([name, row]) => (row[at] === '' ? [] : [[`${name}.${group}`, row[at]] as const])),
    ),
  )
}
