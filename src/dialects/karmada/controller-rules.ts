/** The rights that the dialect's controllers have in addition to all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { TEMPLATE_KINDS } from './templates/template-kinds.ts'

const POLICY = ['policy.karmada.io']
const WORK = ['work.karmada.io']
const CLUSTER = ['cluster.karmada.io']
const POLICIES = ['clusteroverridepolicies', 'clusterpropagationpolicies', 'overridepolicies', 'propagationpolicies']
const BINDINGS = ['clusterresourcebindings', 'resourcebindings']
const status = (plurals: readonly string[]) => plurals.map((plural) => `${plural}/status`)

/** Kinds whose status is added up. */
const SUMMED = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'PodDisruptionBudget']

export const KARMADA_CONTROLLER_RULES: readonly PolicyRule[] = [
  { apiGroups: POLICY, resources: POLICIES, verbs: ['list', 'watch'] },
  { apiGroups: POLICY, resources: ['clustertaintpolicies'], verbs: ['list', 'watch'] },
  { apiGroups: POLICY, resources: status(POLICIES), verbs: ['update'] },
  { apiGroups: WORK, resources: BINDINGS, verbs: ['list', 'watch', 'create', 'update', 'delete'] },
  { apiGroups: WORK, resources: status(BINDINGS), verbs: ['update'] },
  { apiGroups: CLUSTER, resources: ['clusters'], verbs: ['list', 'watch', 'create', 'update', 'delete'] },
  { apiGroups: CLUSTER, resources: ['clusters/status'], verbs: ['update'] },
  { apiGroups: ['apps.karmada.io'], resources: ['workloadrebalancers'], verbs: ['list', 'watch', 'delete'] },
  { apiGroups: ['apps.karmada.io'], resources: ['workloadrebalancers/status'], verbs: ['update'] },
  { apiGroups: ['flotilla.dev'], resources: ['deliveries'], verbs: ['create', 'patch', 'delete'] },
  // Templates: a finalizer, and the sum of their clusters as status.
  ...[...Map.groupBy(TEMPLATE_KINDS, ({ group }) => group)].flatMap(([group, kinds]): PolicyRule[] => {
    const summed = kinds.filter(({ kind }) => SUMMED.includes(kind)).map(({ plural }) => `${plural}/status`)
    return [
      { apiGroups: [group], resources: kinds.map(({ plural }) => plural), verbs: ['list', 'watch', 'update'] },
      ...(summed.length > 0 ? [{ apiGroups: [group], resources: summed, verbs: ['patch'] }] : []),
    ]
  }),
]
