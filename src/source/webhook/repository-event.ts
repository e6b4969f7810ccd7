/** Webhooks of git servers: what happened, and in which repository. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Source } from '../../kinds/native/source.ts'

/** A git server that sends webhooks. Gogs sends those of Gitea. */
export type WebhookSender = 'GitHub' | 'GitLab' | 'Gitea'

/** A push of a branch or a tag, or a change of a pull request. */
export interface RepositoryEvent {
  readonly kind: 'Push' | 'PullRequest'
  /** The address of the repository for browsers. */
  readonly url: string
  /** `refs/heads/main`; empty for a pull request. */
  readonly ref: string
  readonly defaultBranch: string
  /** The repository as generators name it: `owner/name`, or the number of a project of GitLab. */
  readonly names: readonly string[]
}

type Headers = Readonly<Record<string, string | undefined>>

/** Gitea and Gogs send the headers of GitHub, too, so they come first. */
const SENDERS: readonly (readonly [header: string, sender: WebhookSender])[] = [
  ['x-gogs-event', 'Gitea'],
  ['x-gitea-event', 'Gitea'],
  ['x-github-event', 'GitHub'],
  ['x-gitlab-event', 'GitLab'],
]

/** The sender by the headers of a call; undefined for other services. */
export function webhookSender(headers: Headers): WebhookSender | undefined {
  return SENDERS.find(([header]) => headers[header] !== undefined)?.[1]
}

/** Reads a genuine call; undefined for an event that changes nothing, such as a ping. */
export function readEvent(sender: WebhookSender, headers: Headers, body: unknown): RepositoryEvent | undefined {
  if (!isObject(body)) return undefined
  return sender === 'GitLab' ? ofGitLab(body) : ofGitHub(headers, body)
}

/** GitHub, Gitea and Gogs have the same fields. */
function ofGitHub(headers: Headers, body: JsonObject): RepositoryEvent | undefined {
  const event = headers['x-gogs-event'] ?? headers['x-gitea-event'] ?? headers['x-github-event'] ?? ''
  const kind = event === 'push' ? 'Push' : event.startsWith('pull_request') ? 'PullRequest' : undefined
  const repository = objectAt(body, 'repository')
  const url = textAt(repository, 'html_url')
  if (!kind || url === '') return undefined
  return {
    kind,
    url,
    ref: kind === 'Push' ? textAt(body, 'ref') : '',
    defaultBranch: textAt(repository, 'default_branch'),
    names: [textAt(repository, 'full_name')],
  }
}

function ofGitLab(body: JsonObject): RepositoryEvent | undefined {
  // A system hook has the event in the body alone.
  const event = textAt(body, 'object_kind') || textAt(body, 'event_name')
  const kind = event === 'push' || event === 'tag_push' ? 'Push' : event === 'merge_request' ? 'PullRequest' : undefined
  const project = objectAt(body, 'project')
  const url = textAt(project, 'web_url')
  if (!kind || url === '') return undefined
  const { id } = project
  return {
    kind,
    url,
    ref: kind === 'Push' ? textAt(body, 'ref') : '',
    defaultBranch: textAt(project, 'default_branch'),
    names: [textAt(project, 'path_with_namespace'), typeof id === 'number' ? String(id) : ''],
  }
}

/** Whether a push can change what a Source fetches: the repository, and the branch or tag. */
export function concernsSource({ git }: Pick<Source['spec'], 'git'>, event: RepositoryEvent): boolean {
  if (!git || !isSameRepository(git.url, event.url)) return false
  const { branch, tag, semver, commit } = git.ref ?? {}
  if (commit !== undefined) return false
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/s.exec(event.ref) ?? []
  if (kind === 'tags') return tag === name || semver !== undefined
  if (tag !== undefined || semver !== undefined) return false
  // Without a branch, the default branch of the server counts.
  return branch === undefined ? event.defaultBranch === '' || name === event.defaultBranch : name === branch
}

/** Whether two addresses are the same repository: the host and the path, whatever the protocol, user and port. */
export function isSameRepository(address: string, url: string): boolean {
  const [one, other] = [placeOf(address), placeOf(url)]
  return one !== undefined && one === other
}

const ADDRESS = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:@]+)(?::\d+(?=\/))?[:/]+([^?#]+)$/

/** A Source has no longer address. The pattern takes long for an address of nothing but slashes. */
const MAX_ADDRESS = 2048

function placeOf(address: string): string | undefined {
  if (address.length > MAX_ADDRESS) return undefined
  const [, host, path] = ADDRESS.exec(address.trim().toLowerCase()) ?? []
  return host === undefined ? undefined : `${host}/${path!.replace(/\/+$/, '').replace(/\.git$/, '')}`
}

function objectAt(from: JsonObject, field: string): JsonObject {
  const value = from[field]
  return isObject(value) ? value : {}
}

function textAt(from: JsonObject, field: string): string {
  const value = from[field]
  return typeof value === 'string' ? value : ''
}
