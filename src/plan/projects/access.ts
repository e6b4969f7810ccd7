/**
 * Who may do what on which clusters: RBAC says what a subject may write, the Project of the namespace and the
 * ClusterSets say which clusters that reaches, and the Project says under which identity.
 */
import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '../../kinds/builtin/rbac.ts'
import { GROUP } from '../../kinds/define-kind.ts'
import type { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../kinds/native/cluster-set.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { ruleAllows } from '../../kinds/policy-rule.ts'
import { compileFilter, mayPlaceOn } from '../placement/filter.ts'
import { asPlacementCluster, asPlacementSet } from '../placement/read-objects.ts'
import { allowedSets } from './decide.ts'
import { allLimitsOf } from './limits.ts'
import type { ProjectFacts } from './limits.ts'
import { indexProjects, projectOf } from './project-of.ts'
import type { ProjectIndex, Refusal } from './project-of.ts'

/** The objects that access follows from. */
export interface AccessWorld {
  readonly roles: readonly Role[]
  readonly clusterRoles: readonly ClusterRole[]
  readonly roleBindings: readonly RoleBinding[]
  readonly clusterRoleBindings: readonly ClusterRoleBinding[]
  readonly projects: readonly ProjectFacts[]
  readonly sets: readonly ClusterSet[]
  readonly setBindings: readonly ClusterSetBinding[]
  readonly clusters: readonly Cluster[]
}

/** What a subject may do in one namespace, or in the whole hub, and on which clusters that acts. */
export interface AccessRow {
  /** `User ann`, `Group shop`, `ServiceAccount ci/deployer`. */
  readonly subject: string
  /** Absent for rights in all namespaces and on objects without a namespace. */
  readonly namespace?: string
  readonly may: readonly string[]
  /** The Project of the namespace; absent when it has none, and for the whole hub. */
  readonly project?: string
  /** Why the namespace has no Project. */
  readonly refusal?: Refusal
  /** Clusters that the rights act on, in order of their names. */
  readonly clusters: readonly string[]
  /** The identity that applies content of the namespace. */
  readonly as?: string
}

/** Which of the bindings' subjects are asked about; undefined asks about all. */
export type SubjectFilter = (subject: Subject) => boolean

interface Activity {
  readonly name: string
  readonly plural: string
  readonly verbs: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  /** The clusters that the activity acts on: clusters of the Project, all, or none. */
  readonly on: 'project' | 'all' | 'none'
}

const WRITE = ['create', 'update', 'patch']

const ACTIVITIES: readonly Activity[] = [
  { name: 'deliver', plural: 'bundles', verbs: WRITE, scope: 'Namespaced', on: 'project' },
  { name: 'remove', plural: 'bundles', verbs: ['delete', 'deletecollection'], scope: 'Namespaced', on: 'project' },
  { name: 'place', plural: 'placements', verbs: WRITE, scope: 'Namespaced', on: 'project' },
  { name: 'fetch', plural: 'sources', verbs: WRITE, scope: 'Namespaced', on: 'project' },
  { name: 'override', plural: 'overrides', verbs: WRITE, scope: 'Namespaced', on: 'project' },
  { name: 'change rollouts', plural: 'rollouts', verbs: ['update', 'patch'], scope: 'Namespaced', on: 'project' },
  { name: 'start rollouts', plural: 'rollouts', verbs: ['create'], scope: 'Namespaced', on: 'project' },
  { name: 'approve', plural: 'approvals', verbs: ['create'], scope: 'Namespaced', on: 'project' },
  { name: 'read', plural: 'bundles', verbs: ['get', 'list', 'watch'], scope: 'Namespaced', on: 'none' },
  { name: 'deliver to named clusters', plural: 'deliveries', verbs: WRITE, scope: 'Namespaced', on: 'all' },
  { name: 'change clusters', plural: 'clusters', verbs: ['update', 'patch'], scope: 'Cluster', on: 'all' },
  { name: 'accept clusters', plural: 'clusters', verbs: ['accept'], scope: 'Cluster', on: 'all' },
  { name: 'create join tokens', plural: 'jointokens', verbs: ['create'], scope: 'Cluster', on: 'none' },
  { name: 'bind sets', plural: 'clustersets', verbs: ['bind'], scope: 'Cluster', on: 'all' },
  { name: 'change sets', plural: 'clustersets', verbs: WRITE, scope: 'Cluster', on: 'all' },
  { name: 'change Projects', plural: 'projects', verbs: WRITE, scope: 'Cluster', on: 'all' },
]

/** The rows of all subjects, or of the requested subjects, in order of their names. */
export function accessRows(world: AccessWorld, isAsked: SubjectFilter = () => true): readonly AccessRow[] {
  const grants = new Map<string, Map<string, PolicyRule[]>>()
  const grant = (subject: Subject, namespace: string, rules: readonly PolicyRule[]): void => {
    const name = subjectText(subject, namespace)
    const places = grants.get(name) ?? new Map<string, PolicyRule[]>()
    grants.set(name, places)
    places.set(namespace, [...(places.get(namespace) ?? []), ...rules])
  }
  const rules = rulesOf(world)
  for (const { metadata, roleRef, subjects = [] } of world.roleBindings) {
    const { namespace = '' } = metadata
    const given = rules(roleRef.kind, roleRef.name, namespace)
    for (const subject of subjects) if (isAsked(withNamespace(subject, namespace))) grant(subject, namespace, given)
  }
  for (const { roleRef, subjects = [] } of world.clusterRoleBindings) {
    const given = rules(roleRef.kind, roleRef.name, '')
    for (const subject of subjects) if (isAsked(subject)) grant(subject, '', given)
  }
  const reach = createReach(world)
  return [...grants]
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([subject, places]) =>
      [...places]
        .toSorted(([a], [b]) => compareText(a, b))
        .flatMap(([namespace, held]) => rowOf(subject, namespace, held, reach)),
    )
}

/** The rows whose rights act on a cluster. */
export function rowsOfCluster(rows: readonly AccessRow[], cluster: string): readonly AccessRow[] {
  return rows.filter(({ clusters }) => clusters.includes(cluster))
}

function rowOf(subject: string, namespace: string, held: readonly PolicyRule[], reach: Reach): AccessRow[] {
  const activities = ACTIVITIES.filter(({ scope }) => namespace === '' || scope === 'Namespaced')
  const given = activities.flatMap((activity) => {
    const names = namesAllowed(held, activity)
    return names === undefined ? [] : [{ activity, names }]
  })
  if (given.length === 0) return []
  const isEverything = held.some(
    ({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
      [verbs, apiGroups, resources].every((list) => list.includes('*')) && resourceNames.length === 0,
  )
  const may = isEverything
    ? ['everything']
    : given.map(({ activity, names }) =>
        names.length === 0 ? activity.name : `${activity.name} (${names.join(', ')})`,
      )
  const on = new Set(given.map(({ activity }) => activity.on))
  const clustersOf = (ofProject: () => readonly string[]) =>
    on.has('all') ? reach.all : on.has('project') ? ofProject() : []
  if (namespace === '') return [{ subject, may, clusters: clustersOf(reach.ofAnyNamespace) }]
  const { project, refusal, clusters, as } = reach.of(namespace)
  return [
    {
      subject,
      namespace,
      may,
      clusters: clustersOf(() => clusters),
      ...compact({ project: project?.metadata.name }),
      ...compact({ refusal, as }),
    },
  ]
}

/** The names that an activity is limited to: none for all objects; undefined when it is not allowed. */
function namesAllowed(held: readonly PolicyRule[], { plural, verbs }: Activity): readonly string[] | undefined {
  const names = new Set<string>()
  for (const rule of held) {
    const tryName = (name: string | undefined) =>
      verbs.some((verb) => ruleAllows(rule, { verb, path: '', resource: { group: GROUP, plural, name } }))
    if (tryName(undefined)) return []
    for (const name of rule.resourceNames ?? []) if (tryName(name)) names.add(name)
  }
  return names.size === 0 ? undefined : [...names].toSorted(compareText)
}

function rulesOf({ roles, clusterRoles }: AccessWorld) {
  const ofNamespace = new Map(roles.map(({ metadata, rules }) => [`${metadata.namespace}/${metadata.name}`, rules]))
  const ofHub = new Map(clusterRoles.map(({ metadata, rules }) => [metadata.name, rules]))
  return (kind: string, name: string, namespace: string): readonly PolicyRule[] =>
    (kind === 'Role' ? ofNamespace.get(`${namespace}/${name}`) : ofHub.get(name)) ?? []
}

/** The clusters that a namespace reaches, and under which identity. */
interface NamespaceReach {
  readonly project?: ProjectFacts
  readonly refusal?: Refusal
  readonly clusters: readonly string[]
  readonly as?: string
}

interface Reach {
  readonly all: readonly string[]
  of(namespace: string): NamespaceReach
  ofAnyNamespace(): readonly string[]
}

function createReach(world: AccessWorld): Reach {
  const index: ProjectIndex = indexProjects(world.projects)
  const clusters = world.clusters
    .map(asPlacementCluster)
    .filter(({ accepted, leaving }) => accepted && !leaving)
    .toSorted((a, b) => compareText(a.name, b.name))
  const sets = world.sets.map(asPlacementSet)
  const known = new Map<string, NamespaceReach>()

  function find(namespace: string): NamespaceReach {
    const { project, refusal } = projectOf(index, namespace)
    if (!project) return { refusal, clusters: [] }
    const bound = world.setBindings
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(({ spec }) => spec.clusterSet)
    // A Placement may leave out sets, or name any that the Project allows.
    const allowed = allowedSets(project)
    const named = allowed ?? sets.map(({ name }) => name)
    const questions = [...(allowed ? [] : [[]]), ...(named.length > 0 ? [[...named]] : [])]
    const filters = questions.map((clusterSets) =>
      compileFilter({ clusterSelector: {}, clusterSets }, { sets, bound, compileCel: () => () => false }),
    )
    const reached = clusters.filter((cluster) => filters.some((filter) => mayPlaceOn(filter, cluster)))
    return { project, clusters: reached.map(({ name }) => name), as: identityText(project) }
  }

  function of(namespace: string): NamespaceReach {
    const found = known.get(namespace) ?? find(namespace)
    known.set(namespace, found)
    return found
  }

  return {
    all: clusters.map(({ name }) => name),
    of,
    ofAnyNamespace: () =>
      [...new Set([...index.keys()].flatMap((namespace) => of(namespace).clusters))].toSorted(compareText),
  }
}

/** The identity that applies the content of a Project. */
function identityText(project: ProjectFacts): string {
  const { defaultExecutor, ownRights, executors } = allLimitsOf(project)
  const others = executors === undefined ? ['any executor'] : executors
  const first = defaultExecutor ?? (ownRights ? "the agent's own rights" : undefined)
  return [...(first === undefined ? [] : [first]), ...others].join(', ') || 'no executor'
}

function withNamespace(subject: Subject, namespace: string): Subject {
  return subject.kind === 'ServiceAccount' ? { ...subject, namespace: subject.namespace ?? namespace } : subject
}

function subjectText(subject: Subject, bindingNamespace: string): string {
  const { kind, namespace = bindingNamespace, name } = subject
  return kind === 'ServiceAccount' ? `ServiceAccount ${namespace}/${name}` : `${kind} ${name}`
}
