/** GitRepos as Flotilla's own objects, for whoever leaves Fleet: what the hub would make of them, belonging to nobody. */
import { isObject } from '../../core/json.ts'
import { Bundle } from '../../kinds/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Finding } from '../read-fields.ts'
import { findingText } from '../read-fields.ts'
import type { CompiledBundle } from './compile-bundle.ts'
import { COMPILED, desiredOf, REPO_LABEL, sourceOf } from './desired.ts'
import { FleetBundle } from './kinds.ts'
import type { GitRepo } from './kinds.ts'
import { groupOf, isOfFleet, readGitRepoSpec } from './read-git-repo.ts'
import type { GitRepoSpec } from './read-git-repo.ts'
import { readRepository } from './read-repository.ts'

/** What is imported. */
export interface GitReposRequest {
  /** GitRepos, and the ClusterGroups that their targets name. */
  readonly objects: readonly UnknownObject[]
  /** The files of the repository. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Where the objects go; who is meant is decided by the namespace of each GitRepo, which is its workspace. */
  readonly namespace: string
}

/** What came out; with problems, something of the repository is not in the objects. */
export interface ImportedRepos {
  readonly objects: readonly UnknownObject[]
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

interface Repo {
  readonly object: GitRepo
  readonly spec: GitRepoSpec
}

/** Compiles GitRepos once, as the hub does all the time. */
export function importGitRepos({ objects, files, namespace }: GitReposRequest): ImportedRepos {
  const findings: Finding[] = []
  const repos = objects
    .filter((object) => isOfFleet(object, 'GitRepo'))
    .map((object): Repo => ({ object: asRepo(object), spec: readGitRepoSpec(object['spec'], findings) }))
  const missing = new Set<string>()
  const groups = objects.filter((one) => isOfFleet(one, 'ClusterGroup')).map(groupOf)
  const read = (repo: Repo, bundles: readonly CompiledBundle[]) =>
    readRepository({
      gitRepo: { namespace: 'fleet-default', labels: {}, ...repo.object.metadata },
      spec: repo.spec,
      workspace: { groups, aliases: () => [], missing: (name) => void missing.add(name), clusters: [], bundles },
      files,
    })
  // Bundles that wait for others by labels need to know all of them, so everything is read twice.
  const known = repos.flatMap((repo) => read(repo, []).bundles)
  const made = repos.flatMap((repo) => {
    const { name } = repo.object.metadata
    if (typeof repo.object.spec['repo'] !== 'string' || repo.object.spec['repo'] === '') {
      findings.push({ level: 'error', message: `GitRepo ${name}: spec.repo must name a git repository` })
      return []
    }
    const { bundles, findings: found } = read(repo, known)
    findings.push(...found)
    if (bundles.length === 0 && !found.some(({ level }) => level === 'error')) {
      const paths = (repo.spec.paths ?? []).join(', ') || '.'
      findings.push({ level: 'error', message: `GitRepo ${name}: no bundle is found at ${JSON.stringify(paths)}` })
    }
    findings.push(...secretNotes(repo.object, namespace))
    return ownObjects(repo.object, bundles, namespace)
  })
  for (const name of missing) {
    findings.push({
      level: 'error',
      message: `targets name ClusterGroup ${name}, which is not in the files; give its YAML beside the GitRepo, or nobody is meant`,
    })
  }
  const textsOf = (level: Finding['level']): string[] => [
    ...new Set(findings.filter((one) => one.level === level).map(findingText)),
  ]
  return { objects: made, notes: textsOf('warning'), problems: textsOf('error') }
}

function asRepo(object: UnknownObject): GitRepo {
  return { ...object, spec: isObject(object['spec']) ? object['spec'] : {} }
}

function ownObjects(repo: GitRepo, bundles: readonly CompiledBundle[], namespace: string): UnknownObject[] {
  const secret = textOf(repo, 'clientSecretName')
  return [sourceOf(repo, secret), ...desiredOf(repo, bundles)]
    .filter(({ kind }) => kind !== FleetBundle)
    .map(({ object }) => {
      const { name, labels = {}, annotations = {} } = object.metadata
      const { [REPO_LABEL]: _repo, ...ownLabels } = labels
      const { [COMPILED]: _compiled, ...ownAnnotations } = annotations
      const isBundle = object.kind === Bundle.kind
      return {
        apiVersion: object.apiVersion,
        kind: object.kind,
        metadata: {
          name,
          namespace,
          ...(isBundle && Object.keys(ownLabels).length > 0 ? { labels: ownLabels } : {}),
          ...(isBundle && Object.keys(ownAnnotations).length > 0 ? { annotations: ownAnnotations } : {}),
        },
        spec: object.spec,
      }
    })
}

/** Secrets are never copied; who imports is told which ones are meant. */
function secretNotes(repo: GitRepo, namespace: string): Finding[] {
  const uses = { clientSecretName: 'for the repository', helmSecretName: 'for charts', webhookSecret: 'of the webhook' }
  return Object.entries(uses).flatMap(([field, use]) => {
    const name = textOf(repo, field)
    if (name === undefined) return []
    const bound =
      field === 'webhookSecret' ? '' : ', with the annotation flotilla.dev/urls that says where it may be sent'
    return [{ level: 'warning', message: `the Secret ${name} ${use} must be in namespace ${namespace}${bound}` }]
  })
}

function textOf({ spec }: GitRepo, field: string): string | undefined {
  const value = spec[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}
