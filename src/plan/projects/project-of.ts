/** Which Project a namespace belongs to. */
import { nameSome } from '../../core/text/name-some.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { Project } from '../../kinds/native/project.ts'
import { ALL } from './patterns.ts'
import type { ProjectFacts } from './limits.ts'

/** Why something is refused: a reason for conditions and the sentences for people. */
export interface Refusal {
  readonly reason: 'NoProject' | 'SeveralProjects' | 'ProjectRefuses'
  /** A sentence or more; each names the Project and the line that refuses. */
  readonly lines: readonly string[]
}

/** The Project of a namespace, or why it has none. */
export type FoundProject<P extends ProjectFacts = ProjectFacts> =
  | { readonly project: P; readonly refusal?: undefined }
  | { readonly project?: undefined; readonly refusal: Refusal }

/** The Projects by the namespaces that they list. */
export type ProjectIndex<P extends ProjectFacts = ProjectFacts> = ReadonlyMap<string, readonly P[]>

/** Indexes Projects, so that each question costs the same with one Project and with thousands. */
export function indexProjects<P extends ProjectFacts>(projects: Iterable<P>): ProjectIndex<P> {
  const index = new Map<string, P[]>()
  for (const project of projects) {
    for (const namespace of project.spec.namespaces ?? []) {
      const listed = index.get(namespace)
      if (listed) listed.push(project)
      else index.set(namespace, [project])
    }
  }
  return index
}

/** The Project of a namespace. */
export function projectOf<P extends ProjectFacts>(index: ProjectIndex<P>, namespace: string): FoundProject<P> {
  const listing = index.get(namespace) ?? []
  const [project, second] = listing
  if (project && !second) return { project }
  if (!project) {
    const line = `Namespace ${namespace} has no Project, so nothing of it is fetched, rendered or placed. Add it to one: flotilla project add NAME --namespace ${namespace}`
    return { refusal: { reason: 'NoProject', lines: [line] } }
  }
  const names = listing.map(({ metadata }) => metadata.name).toSorted(compareText)
  const line = `Namespace ${namespace} is in spec.namespaces of several Projects (${nameSome(names)}), so it has none of them. Remove it from all but one.`
  return { refusal: { reason: 'SeveralProjects', lines: [line] } }
}

/** The namespaces of a Project that another Project lists, too. */
export function contestedNamespaces(index: ProjectIndex, project: ProjectFacts): readonly string[] {
  return (project.spec.namespaces ?? []).filter((namespace) => (index.get(namespace) ?? []).length > 1)
}

/** The spec of a Project that allows these namespaces everything. */
export function everythingAllowed(namespaces: readonly string[]): Project['spec'] {
  return {
    namespaces: [...namespaces],
    sources: [ALL],
    kinds: [ALL],
    targetNamespaces: [ALL],
    clusterSets: [ALL],
    executors: { allowed: [ALL], ownRights: true },
    plans: [ALL],
  }
}

const REASONS: ReadonlySet<string | undefined> = new Set([
  'NoProject',
  'SeveralProjects',
  'ProjectRefuses',
  'ProjectFreezes',
])

/** Whether a reason of a condition says that a Project refuses the object, or that there is no Project. */
export function isProjectReason(reason: string | undefined): boolean {
  return REASONS.has(reason)
}
