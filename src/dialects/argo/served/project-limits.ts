/** What the AppProject of an Application allows. */
import type { ApplicationSpec } from '../application.ts'
import type { AppProject } from '../kinds.ts'
import {
  isApplicationNamespacePermitted,
  isDestinationPermitted,
  isKindPermitted,
  isSourcePermitted,
} from '../projects/project-permissions.ts'
import { projectProblem } from '../projects/validate-project.ts'
import type { CheckedProject } from '../projects/validate-project.ts'
import { canSync, matchingWindows, SyncWindowError } from '../sync/sync-windows.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

const DEFAULT = 'default'

/** The AppProject `default` of a fresh Argo CD, which need not be written. */
const EVERYTHING: CheckedProject = {
  sourceRepos: ['*'],
  destinations: [{ server: '*', name: '*', namespace: '*' }],
  clusterResourceWhitelist: [{ group: '*', kind: '*' }],
}

/** Whether a project limits nothing, as the AppProject `default` of a fresh Argo CD. */
export function allowsEverything(spec: CheckedProject): boolean {
  const { sourceRepos = [], destinations = [], clusterResourceWhitelist = [], syncWindows = [] } = spec
  const isAny = ({ group, kind }: { readonly group?: string; readonly kind?: string }) => group === '*' && kind === '*'
  const { clusterResourceBlacklist = [], namespaceResourceBlacklist = [], namespaceResourceWhitelist } = spec
  return (
    sourceRepos.includes('*') &&
    destinations.some(({ server, name, namespace }) => namespace === '*' && (server === '*' || name === '*')) &&
    clusterResourceWhitelist.some(isAny) &&
    (namespaceResourceWhitelist?.some(isAny) ?? true) &&
    clusterResourceBlacklist.length + namespaceResourceBlacklist.length + syncWindows.length === 0 &&
    ![...sourceRepos, ...destinations.flatMap((one) => Object.values(one))].some((text) => text?.startsWith('!'))
  )
}

/** The limits of a project, or why it does not exist. */
export function projectSpec(
  name: string,
  project: AppProject | undefined,
): CheckedProject | { readonly missing: string } {
  if (project) return project.spec
  if (name === DEFAULT) return EVERYTHING
  return { missing: `application references project ${name} which does not exist` }
}

const WITHOUT_EFFECT = {
  roles: 'use RBAC of the hub',
  orphanedResources: 'an agent lists only what it applied',
  signatureKeys: 'use spec.git.verify of a Source',
  destinationServiceAccounts: 'use spec.executors of the Project',
} as const

/** Fields of a project without an effect, as sentences. */
export function projectNotes(name: string, spec: object): string[] {
  return Object.entries(WITHOUT_EFFECT).flatMap(([field, advice]) => {
    const value: unknown = (spec as Record<string, unknown>)[field]
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
    return isSet ? [`${field} of AppProject ${name} has no effect: ${advice}`] : []
  })
}

/** A destination with both of its names, and with the rest that it has. */
export interface NamedDestination {
  readonly name: string
  readonly server: string
  readonly namespace: string
  readonly spellings: readonly { readonly name: string; readonly server: string }[]
}

/** Whether a project allows a destination by one of its spellings and denies it by none. */
function isPermitted(
  spec: CheckedProject,
  { spellings, namespace }: Omit<NamedDestination, 'name' | 'server'>,
): boolean {
  const isAllowed = spellings.some((one) => isDestinationPermitted(spec, { ...one, namespace }))
  // After an item that allows everything, only an item that denies gives false.
  const denying = { destinations: [...(spec.destinations ?? []), { server: '*', name: '*', namespace: '*' }] }
  return isAllowed && spellings.every((one) => isDestinationPermitted(denying, { ...one, namespace }))
}

/** Why a project does not allow an Application; undefined when it does. */
export function projectRefusal(
  project: { readonly name: string; readonly spec: CheckedProject },
  spec: ApplicationSpec,
  where: { readonly destination: NamedDestination; readonly namespace: string; readonly argoNamespace: string },
): string | undefined {
  const invalid = projectProblem(project.name, project.spec)
  if (invalid !== undefined) return `AppProject ${project.name}: ${invalid}`
  const { destination, namespace, argoNamespace } = where
  if (!isApplicationNamespacePermitted(project.spec, namespace, argoNamespace)) {
    return `application in namespace ${namespace} is not permitted to use project ${project.name}`
  }
  const sources = spec.sources && spec.sources.length > 0 ? spec.sources : spec.source ? [spec.source] : []
  for (const { repoURL = '' } of sources) {
    if (!isSourcePermitted(project.spec, repoURL))
      return `application repo ${repoURL} is not permitted in project '${project.name}'`
  }
  if (isPermitted(project.spec, destination)) return undefined
  const { server, namespace: target } = destination
  return `application destination server '${server}' and namespace '${target}' do not match any of the allowed destinations in project '${project.name}'`
}

/** An object of rendered content. */
export interface RenderedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** The first object that a project does not allow, as a sentence. */
export function refusedObject(
  project: { readonly name: string; readonly spec: CheckedProject },
  objects: readonly RenderedObject[],
  destination: NamedDestination,
): string | undefined {
  for (const { apiVersion, kind, name, namespace = '' } of objects) {
    const group = groupOf({ apiVersion })
    const label = `${group === '' ? '' : `${group}/`}${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
    if (!isKindPermitted(project.spec, { group, kind, name }, namespace !== ''))
      return `resource ${label} is not permitted in project ${project.name}`
    if (namespace !== '' && !isPermitted(project.spec, { ...destination, namespace }))
      return `namespace ${namespace} of ${label} is not permitted in project '${project.name}'`
  }
  return undefined
}

/** Whether the sync windows of a project are open for an Application; with the sentence to show when they are not. */
export function closedWindow(
  { syncWindows = [] }: CheckedProject,
  application: { readonly name: string; readonly destination: NamedDestination },
  question: { readonly atMs: number; readonly isManual: boolean; readonly startedMs?: number },
): string | undefined {
  const { name, destination } = application
  // A window may name the Cluster by another of its names than the Application does.
  const asked = destination.spellings.map((one) => ({
    name,
    destination: { ...one, namespace: destination.namespace },
  }))
  const matching = syncWindows.filter((window) => asked.some((one) => matchingWindows([window], one).length > 0))
  try {
    if (canSync(matching, question)) return undefined
  } catch (caught) {
    if (!(caught instanceof SyncWindowError)) throw caught
    return `the sync windows of the project cannot be read: ${caught.message}`
  }
  return 'Sync is blocked by the sync windows of the project'
}
