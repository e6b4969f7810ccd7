// Tested by src/controllers/projects.sim.test.ts
/** The Project of each namespace, from the cache; shared by all controllers that a Project limits. */
import type { Informer } from '../../client/informer.ts'
import { findCondition } from '../../core/conditions.ts'
import { Stalled } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { Source } from '../../kinds/native/source.ts'
import { bundleRefusals, refusalMessage, refusedBy, sourceRefusals } from '../../plan/projects/decide.ts'
import { bundleQuotaLines, sourceQuotaLines } from '../../plan/projects/quotas.ts'
import type { QuotaItem } from '../../plan/projects/quotas.ts'
import type { Caches } from './caches.ts'
import { indexProjects, projectOf } from '../../plan/projects/project-of.ts'
import type { FoundProject, ProjectIndex, Refusal } from '../../plan/projects/project-of.ts'

/** The Project of a namespace, or why it has none. */
export type ProjectOfNamespace = (namespace: string) => FoundProject<Project>

const known = new WeakMap<Informer<Project>, ProjectOfNamespace>()

/** The Projects by namespace; the index is built once per change, and once for all controllers. */
export function namespaceProjects({ projects }: { readonly projects: Informer<Project> }): ProjectOfNamespace {
  const before = known.get(projects)
  if (before) return before
  let index: ProjectIndex<Project> | undefined
  projects.onChange(() => (index = undefined))
  const find: ProjectOfNamespace = (namespace) =>
    projectOf((index ??= indexProjects(projects.lister.list())), namespace)
  known.set(projects, find)
  return find
}

/** Whose turn the objects of a namespace take: the turn of its Project, or its own. */
export function tenantOf(caches: { readonly projects: Informer<Project> }, namespace: string): string {
  const { project } = namespaceProjects(caches)(namespace)
  return project ? `Project ${project.metadata.name}` : namespace
}

/** A trigger on Projects: the namespaces that a change concerns become keys. A change of the status concerns none. */
export function triggerOnProjects(
  { projects }: { readonly projects: Informer<Project> },
  keysOf: (namespace: string) => Iterable<string>,
): Trigger {
  return triggerOn(projects, function* ({ before, after }) {
    if (jsonEqual(before?.spec, after?.spec)) return
    const namespaces = new Set([...(before?.spec.namespaces ?? []), ...(after?.spec.namespaces ?? [])])
    for (const namespace of namespaces) yield* keysOf(namespace)
  })
}

/** Throws Stalled for a refusal. `kept` says what stays as it is. */
export function refuse(refusal: Refusal | undefined, kept: string): void {
  if (refusal) throw new Stalled(refusal.reason, `${refusalMessage(refusal)} ${kept}`)
}

type ContentCaches = Pick<Caches, 'projects' | 'bundles' | 'sources'>

/** Why a Bundle as a whole is refused, before its objects are known. */
export function bundleRefusal(caches: ContentCaches, bundle: Bundle): Refusal | undefined {
  const namespace = bundle.metadata.namespace ?? ''
  const { project, refusal } = namespaceProjects(caches)(namespace)
  if (!project) return refusal
  const { source } = bundle.spec
  const names = source ? [source.name, ...(source.include ?? []).map((one) => one.source)] : []
  const ofSources = names.flatMap((name) => {
    const found = caches.sources.lister.get(`${namespace}/${name}`)
    return found ? sourceRefusals(project, found.spec) : []
  })
  const { quotas } = project.spec
  const overQuota =
    quotas?.bundles === undefined ? [] : bundleQuotaLines(project, bundleItems(caches, project), keyOf(bundle))
  return refusedBy([...bundleRefusals(project, bundle), ...ofSources, ...overQuota])
}

/** Why a Source is not fetched. */
export function sourceRefusal(caches: ContentCaches, source: Source): Refusal | undefined {
  const { project, refusal } = namespaceProjects(caches)(source.metadata.namespace ?? '')
  if (!project) return refusal
  const { quotas } = project.spec
  const overQuota = quotas ? sourceQuotaLines(project, sourceItems(caches, project), keyOf(source)) : []
  return refusedBy([...sourceRefusals(project, source.spec), ...overQuota])
}

function bundleItems({ bundles }: Pick<Caches, 'bundles'>, { spec }: Project): readonly QuotaItem[] {
  return (spec.namespaces ?? []).flatMap((namespace) => bundles.lister.list(namespace).map(asItem))
}

/** The Sources of a Project, as its quotas count them. */
export function sourceItems({ sources }: Pick<Caches, 'sources'>, { spec }: Project): readonly QuotaItem[] {
  return (spec.namespaces ?? []).flatMap((namespace) =>
    sources.lister.list(namespace).map((source) => ({ ...asItem(source), bytes: source.status?.artifact?.bytes ?? 0 })),
  )
}

function asItem(object: KubeObject): QuotaItem {
  return { key: keyOf(object), createdAt: object.metadata.creationTimestamp ?? '' }
}

/** The message of a Bundle whose released content is refused; bundle-render has recorded it. */
export function frozenContent(bundle: Bundle | undefined): string | undefined {
  const ready = findCondition(bundle?.status?.conditions, 'Ready')
  return ready?.reason === 'ProjectFreezes' ? ready.message : undefined
}
