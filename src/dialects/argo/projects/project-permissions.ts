/** What an AppProject permits: sources, destinations, kinds of objects and namespaces of Applications. */
import { RE2JS, RE2JSException } from 're2js'
import { fileGlob } from '../../file-glob.ts'
import { matchesArgoGlob } from '../glob.ts'
import { normalizeGitUrl } from './git-url.ts'

/** A destination: one of the server and the name is enough. */
export interface ProjectDestination {
  readonly server?: string
  readonly name?: string
  readonly namespace?: string
}

/** A kind that a project allows or denies; a cluster-wide kind may have a name. */
export interface ProjectResource {
  readonly group?: string
  readonly kind?: string
  readonly name?: string
}

/** The part of an AppProject that permits. */
export interface ProjectSpec {
  readonly sourceRepos?: readonly string[]
  readonly destinations?: readonly ProjectDestination[]
  readonly clusterResourceWhitelist?: readonly ProjectResource[]
  readonly clusterResourceBlacklist?: readonly ProjectResource[]
  readonly namespaceResourceWhitelist?: readonly ProjectResource[]
  readonly namespaceResourceBlacklist?: readonly ProjectResource[]
  readonly sourceNamespaces?: readonly string[]
  readonly permitOnlyProjectScopedClusters?: boolean
}

/** A cluster by its two names. */
export interface ProjectCluster {
  readonly name: string
  readonly server: string
}

function isDeny(pattern: string): boolean {
  return pattern.startsWith('!')
}

/** Whether a text fits a pattern; with a `!` in front, whether it does not. */
function fits(pattern: string, text: string, separators = ''): boolean {
  if (isDeny(pattern)) return !matchesArgoGlob(pattern.slice(1), text, separators)
  return pattern === '*' || matchesArgoGlob(pattern, text, separators)
}

/** Whether content may come from a repository. */
export function isSourcePermitted({ sourceRepos = [] }: ProjectSpec, address: string): boolean {
  const source = normalizeGitUrl(address)
  let isPermitted = false
  for (const repo of sourceRepos) {
    const pattern = isDeny(repo) ? `!${normalizeGitUrl(repo.slice(1))}` : normalizeGitUrl(repo)
    if (fits(pattern, source, '/')) isPermitted = true
    else if (isDeny(pattern)) return false
  }
  return isPermitted
}

/** Whether content may go to a namespace of a cluster. */
export function isDestinationPermitted(
  spec: ProjectSpec,
  { server = '', name = '', namespace = '' }: ProjectDestination,
  projectClusters: readonly ProjectCluster[] = [],
): boolean {
  let isPermitted = false
  for (const item of spec.destinations ?? []) {
    const [itemName = '', itemServer = '', itemNamespace = ''] = [item.name, item.server, item.namespace]
    const byName = name !== '' && fits(itemName, name)
    const byServer = server !== '' && fits(itemServer, server)
    const byNamespace = fits(itemNamespace, namespace)
    if ((byServer || byName) && byNamespace) isPermitted = true
    else if ((!byName && isDeny(itemName)) || (!byServer && isDeny(itemServer) && byNamespace)) return false
    else if (!byNamespace && isDeny(itemNamespace) && byServer) return false
  }
  if (!isPermitted || spec.permitOnlyProjectScopedClusters !== true) return isPermitted
  return projectClusters.some((cluster) => cluster.name === name || cluster.server === server)
}

/** Whether an object of a kind may be delivered, wherever it goes. */
export function isKindPermitted(
  spec: ProjectSpec,
  { group, kind, name }: Required<ProjectResource>,
  isNamespaced: boolean,
): boolean {
  const lists = (list: readonly ProjectResource[] | undefined, withName: boolean): boolean =>
    (list ?? []).some(
      (item) =>
        fileFits(item.kind ?? '', kind) &&
        fileFits(item.group ?? '', group) &&
        (!withName || (item.name ?? '') === '' || fileFits(item.name!, name)),
    )
  if (isNamespaced) {
    const { namespaceResourceWhitelist: allow, namespaceResourceBlacklist: deny } = spec
    return (allow === undefined || lists(allow, false)) && !lists(deny, false)
  }
  return lists(spec.clusterResourceWhitelist, true) && !lists(spec.clusterResourceBlacklist, true)
}

function fileFits(pattern: string, text: string): boolean {
  return fileGlob(pattern)?.test(text) ?? false
}

/** Whether an Application may be in a namespace. */
export function isApplicationNamespacePermitted(
  { sourceNamespaces = [] }: ProjectSpec,
  namespace: string,
  argoNamespace: string,
): boolean {
  if (namespace === '' || namespace === argoNamespace) return true
  return sourceNamespaces.some((pattern) => {
    const isExpression = pattern.length > 1 && pattern.startsWith('/') && pattern.endsWith('/')
    return (isExpression && expressionFinds(pattern.slice(1, -1), namespace)) || matchesArgoGlob(pattern, namespace)
  })
}

const MAX_EXPRESSION = 4096

function expressionFinds(pattern: string, text: string): boolean {
  if (pattern.length > MAX_EXPRESSION) return false
  try {
    return RE2JS.compile(pattern).matcher(text).find()
  } catch (caught) {
    if (caught instanceof RE2JSException) return false
    throw caught
  }
}
