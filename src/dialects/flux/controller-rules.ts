/** The rights that the dialect's controllers have in addition to all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

const SOURCES = ['source.toolkit.fluxcd.io']
const RELEASES = ['helm.toolkit.fluxcd.io']
const KUSTOMIZATIONS = ['kustomize.toolkit.fluxcd.io']

const SOURCE_KINDS = ['buckets', 'gitrepositories', 'helmcharts', 'helmrepositories', 'ocirepositories']

export const FLUX_CONTROLLER_RULES: readonly PolicyRule[] = [
  { apiGroups: SOURCES, resources: SOURCE_KINDS, verbs: ['list', 'watch'] },
  { apiGroups: SOURCES, resources: SOURCE_KINDS.map((plural) => `${plural}/status`), verbs: ['update'] },
  { apiGroups: KUSTOMIZATIONS, resources: ['kustomizations'], verbs: ['list', 'watch'] },
  // The finalizers.
  { apiGroups: KUSTOMIZATIONS, resources: ['kustomizations'], verbs: ['update'] },
  { apiGroups: KUSTOMIZATIONS, resources: ['kustomizations/status'], verbs: ['update'] },
  { apiGroups: RELEASES, resources: ['helmreleases'], verbs: ['list', 'watch'] },
  { apiGroups: RELEASES, resources: ['helmreleases'], verbs: ['update'] },
  { apiGroups: RELEASES, resources: ['helmreleases/status'], verbs: ['update'] },
  // Objects of Flux inside the build of a Kustomization.
  { apiGroups: SOURCES, resources: SOURCE_KINDS, verbs: ['create', 'patch'] },
  { apiGroups: KUSTOMIZATIONS, resources: ['kustomizations'], verbs: ['create', 'patch'] },
  { apiGroups: RELEASES, resources: ['helmreleases'], verbs: ['create', 'patch'] },
  // A Namespace can name the Placement of its Kustomizations.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
  // The objects that objects of Flux become; they go with their owners.
  { apiGroups: ['flotilla.dev'], resources: ['bundles', 'placements', 'sources'], verbs: ['create', 'patch'] },
]
