// Tested by src/dialects/argo/scm/services.contract.test.ts
/** GitHub, GitLab and Gitea: pull requests of a repository, and repositories of an organization. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { PullRequest, ScmRepository } from '../applicationset/generate-inputs.ts'
import { AnswerBudget } from './answer-budget.ts'
import { namesAt, numberAt, segment, ServiceError, textAt } from './service-client.ts'
import type { ServiceClient } from './service-client.ts'

/** The part of a generator about a service. */
export type ServiceOptions = JsonObject

/** What is asked about repositories besides the options of the service. */
export interface RepositoryQuestion {
  readonly isSsh: boolean
  /** Paths that filters ask about. */
  readonly paths: readonly string[]
}

/** A git service. */
export interface GitService {
  /** The address of its API; throws ServiceError. */
  api(options: ServiceOptions): string
  authorization(token: string): string
  pullRequests(client: ServiceClient, options: ServiceOptions): Promise<readonly PullRequest[]>
  repositories(
    client: ServiceClient,
    options: ServiceOptions,
    question: RepositoryQuestion,
  ): Promise<readonly ScmRepository[]>
}

const MAX_REPOSITORIES = 2000

function required(options: ServiceOptions, field: string): string {
  const value = textAt(options, field)
  if (value === '') throw new ServiceError(`${field} is required`)
  return value
}

function withSlash(address: string): string {
  return address.endsWith('/') ? address : `${address}/`
}

function labelsOf(options: ServiceOptions): string[] {
  return namesAt(options, 'labels')
}

function hasLabels(pull: PullRequest, wanted: readonly string[]): boolean {
  return wanted.every((label) => pull.labels.includes(label))
}

/** Repositories with their branches, and the answers about paths. */
async function withBranches(
  repositories: readonly JsonObject[],
  each: (repository: JsonObject) => Promise<readonly ScmRepository[]>,
): Promise<ScmRepository[]> {
  if (repositories.length > MAX_REPOSITORIES)
    throw new ServiceError(`there are ${repositories.length} repositories, more than ${MAX_REPOSITORIES}`)
  const budget = new AnswerBudget('the repositories and their branches have', 'ask for fewer of them')
  const found: ScmRepository[] = []
  for (const repository of repositories) {
    const made = await each(repository)
    const problem = budget.add(made)
    if (problem !== undefined) throw new ServiceError(problem)
    found.push(...made)
  }
  return found
}

/** The fields of an item that are needed later. */
function fieldsOf(names: readonly string[]): (item: JsonObject) => JsonObject {
  return (item) => Object.fromEntries(names.map((name) => [name, item[name]]))
}

interface Branch {
  readonly ref: string
  readonly sha: string
}

/** Reads a branch; `sha` is the field of its commit with the hash. */
function branchWith(sha: string): (branch: JsonObject) => Branch {
  return (branch) => ({ ref: textAt(branch, 'name'), sha: textAt(branch, 'commit', sha) })
}

async function pathsOf(
  paths: readonly string[],
  exists: (path: string) => Promise<boolean>,
): Promise<(path: string) => boolean> {
  const there = new Set<string>()
  for (const path of paths) if (await exists(path)) there.add(path)
  return (path) => there.has(path)
}

/** GitHub and Gitea have the same shape of answers. */
function pullOf(one: JsonObject): PullRequest {
  return {
    number: numberAt(one, 'number'),
    title: textAt(one, 'title'),
    branch: textAt(one, 'head', 'ref'),
    targetBranch: textAt(one, 'base', 'ref'),
    headSHA: textAt(one, 'head', 'sha'),
    labels: namesAt(one, 'labels'),
    author: textAt(one, 'user', 'login'),
  }
}

interface HubLike {
  readonly organization: string
  readonly allBranches: boolean
  readonly pageSize: string
  readonly branchOf: (branch: JsonObject) => Branch
}

const hubFields = fieldsOf(['name', 'id', 'default_branch', 'topics', 'ssh_url', 'clone_url', 'archived'])

async function hubRepositories(
  client: ServiceClient,
  listed: readonly JsonObject[],
  { isSsh, paths }: RepositoryQuestion,
  { organization, allBranches, pageSize, branchOf }: HubLike,
): Promise<ScmRepository[]> {
  return await withBranches(listed, async (one) => {
    const name = textAt(one, 'name')
    const at = `repos/${segment(organization)}/${segment(name)}`
    const main = textAt(one, 'default_branch')
    const branches = allBranches
      ? await client.list(`${at}/branches?${pageSize}`, branchOf)
      : [await client.find(`${at}/branches/${segment(main)}`)].filter(isObject).map(branchOf)
    const made: ScmRepository[] = []
    for (const { ref, sha } of branches) {
      const exists = async (path: string): Promise<boolean> =>
        (await client.find(`${at}/contents/${path.split('/').map(segment).join('/')}?ref=${segment(ref)}`)) !==
        undefined
      made.push({
        organization,
        repository: name,
        repositoryId: numberAt(one, 'id'),
        url: textAt(one, isSsh ? 'ssh_url' : 'clone_url'),
        branch: ref,
        sha,
        labels: namesAt(one, 'topics'),
        hasPath: await pathsOf(paths, exists),
      })
    }
    return made
  })
}

const notArchived = (options: ServiceOptions) => (one: JsonObject) =>
  options['excludeArchivedRepos'] !== true || one['archived'] !== true

const github: GitService = {
  api(options) {
    const api = textAt(options, 'api')
    if (api === '') return 'https://api.github.com/'
    const url = URL.parse(withSlash(api))
    if (!url) throw new ServiceError(`api ${JSON.stringify(api)} is not an address`)
    const isApi = url.pathname.endsWith('/api/v3/') || url.hostname.startsWith('api.') || url.hostname.includes('.api.')
    return isApi ? url.href : `${url.href}api/v3/`
  },
  authorization: (token) => `Bearer ${token}`,
  async pullRequests(client, options) {
    const at = `repos/${segment(required(options, 'owner'))}/${segment(required(options, 'repo'))}`
    const pulls = await client.list(`${at}/pulls?per_page=100`, pullOf)
    return pulls.filter((pull) => hasLabels(pull, labelsOf(options)))
  },
  async repositories(client, options, question) {
    const organization = required(options, 'organization')
    const listed = await client.list(`orgs/${segment(organization)}/repos?per_page=100`, hubFields)
    return await hubRepositories(client, listed.filter(notArchived(options)), question, {
      organization,
      allBranches: options['allBranches'] === true,
      pageSize: 'per_page=100',
      branchOf: branchWith('sha'),
    })
  },
}

const gitea: GitService = {
  api: (options) => `${withSlash(required(options, 'api'))}api/v1/`,
  authorization: (token) => `token ${token}`,
  async pullRequests(client, options) {
    const at = `repos/${segment(required(options, 'owner'))}/${segment(required(options, 'repo'))}`
    const pulls = await client.list(`${at}/pulls?state=open&limit=50`, pullOf)
    return pulls.filter((pull) => hasLabels(pull, labelsOf(options)))
  },
  async repositories(client, options, question) {
    const organization = required(options, 'owner')
    const listed = await client.list(`orgs/${segment(organization)}/repos?limit=50`, hubFields)
    return await hubRepositories(client, listed.filter(notArchived(options)), question, {
      organization,
      allBranches: options['allBranches'] === true,
      pageSize: 'limit=50',
      branchOf: branchWith('id'),
    })
  },
}

const projectFields = fieldsOf([
  'id',
  'path',
  'namespace',
  'default_branch',
  'topics',
  'ssh_url_to_repo',
  'http_url_to_repo',
])

const gitlab: GitService = {
  api: (options) => `${withSlash(textAt(options, 'api') || 'https://gitlab.com')}api/v4/`,
  authorization: (token) => `Bearer ${token}`,
  async pullRequests(client, options) {
    const project = options['project']
    const id = typeof project === 'number' ? String(project) : required(options, 'project')
    const query = new URLSearchParams({ per_page: '100' })
    const state = textAt(options, 'pullRequestState')
    if (state !== '') query.set('state', state)
    const labels = labelsOf(options)
    if (labels.length > 0) query.set('labels', labels.join(','))
    return await client.list(`projects/${segment(id)}/merge_requests?${query.toString()}`, (one) => ({
      number: numberAt(one, 'iid'),
      title: textAt(one, 'title'),
      branch: textAt(one, 'source_branch'),
      targetBranch: textAt(one, 'target_branch'),
      headSHA: textAt(one, 'sha'),
      labels: namesAt(one, 'labels'),
      author: textAt(one, 'author', 'username'),
    }))
  },
  async repositories(client, options, { isSsh, paths }) {
    const query = new URLSearchParams({ per_page: '100' })
    query.set('include_subgroups', String(options['includeSubgroups'] === true))
    query.set('with_shared', String(options['includeSharedProjects'] !== false))
    const topic = textAt(options, 'topic')
    if (topic !== '') query.set('topic', topic)
    if (options['includeArchivedRepos'] !== true) query.set('archived', 'false')
    const group = segment(required(options, 'group'))
    const listed = await client.list(`groups/${group}/projects?${query.toString()}`, projectFields)
    return await withBranches(listed, async (one) => {
      const at = `projects/${numberAt(one, 'id')}/repository`
      const main = textAt(one, 'default_branch')
      const branches =
        options['allBranches'] === true
          ? await client.list(`${at}/branches?per_page=100`, branchWith('id'))
          : [main === '' ? undefined : await client.find(`${at}/branches/${segment(main)}`)]
              .filter(isObject)
              .map(branchWith('id'))
      const made: ScmRepository[] = []
      for (const { ref, sha } of branches) {
        const exists = async (path: string): Promise<boolean> => {
          const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
          const where = new URLSearchParams({ path: folder, ref, per_page: '100' })
          const known = await client.find(`${at}/tree?${where.toString()}`)
          return Array.isArray(known) && known.some((entry) => textAt(entry, 'path') === path)
        }
        made.push({
          organization: textAt(one, 'namespace', 'full_path'),
          repository: textAt(one, 'path'),
          repositoryId: numberAt(one, 'id'),
          url: textAt(one, isSsh ? 'ssh_url_to_repo' : 'http_url_to_repo'),
          branch: ref,
          sha,
          labels: namesAt(one, 'topics'),
          hasPath: await pathsOf(paths, exists),
        })
      }
      return made
    })
  },
}

/** The services that are asked. */
export const GIT_SERVICES: Readonly<Record<string, GitService>> = { github, gitlab, gitea }
