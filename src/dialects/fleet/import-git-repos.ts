/**
 * Imports GitRepos as Flotilla objects without an owner, for users who replace Fleet: the objects that the hub would
 * make.
 */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { LabelRequirement } from '../../core/text/label-selector.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Finding } from '../read-fields.ts'
import { findingText } from '../read-fields.ts'
import type { CompiledBundle } from './compile/compile-bundle.ts'
import { COMPILED, desiredOf, REPO_LABEL, sourceOf } from './compile/desired-objects.ts'
import { FleetBundle } from './kinds.ts'
import type { GitRepo } from './kinds.ts'
import { gitRepoOf, groupOf, isOfFleet, readGitRepoSpec } from './compile/read-git-repo.ts'
import type { GitRepoSpec } from './compile/read-git-repo.ts'
import { compileRepository } from './compile/compile-repository.ts'

/** The input of an import. */
export interface GitReposRequest {
  /** GitRepos, and the ClusterGroups that their targets name. */
  readonly objects: readonly UnknownObject[]
  /** The files of the repository that the GitRepos name. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The clusters that get all Bundles, instead of the targets. */
  readonly allClusters?: readonly LabelRequirement[]
  /**
   * The namespace of the objects; the namespace of each GitRepo, its workspace, decides which clusters are selected.
   */
  readonly namespace: string
}

/** The result; with problems, a part of the repository is not in the objects. */
export interface ImportedRepos {
  readonly objects: readonly UnknownObject[]
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

interface Repo {
  readonly object: GitRepo
  readonly spec: GitRepoSpec
}

/** Compiles GitRepos once, as the hub does continuously. */
export function importGitRepos(request: GitReposRequest): ImportedRepos {
  const { files, namespace } = request
  const objects = request.objects.map((object) => forAllClusters(object, request.allClusters))
  const findings: Finding[] = [...besides(objects), ...repositoryFindings(objects)]
  const repos = objects
    .filter((object) => isOfFleet(object, 'GitRepo'))
    .map((object): Repo => ({ object: asRepo(object), spec: readGitRepoSpec(object['spec'], findings) }))
  const missing = new Set<string>()
  const groups = objects.filter((one) => isOfFleet(one, 'ClusterGroup')).map(groupOf)
  const read = (repo: Repo, bundles: readonly CompiledBundle[]) =>
    compileRepository({
      gitRepo: gitRepoOf(repo.object),
      spec: repo.spec,
      workspace: { groups, aliases: () => [], missing: (name) => void missing.add(name), clusters: [], bundles },
      files,
    })
  // `dependsOn` by labels needs all bundles, so the repository is compiled twice.
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
  for (const name of missing) findings.push({ level: 'error', message: missingText(name, repos) })
  const textsOf = (level: Finding['level']): string[] => [
    ...new Set(findings.filter((one) => one.level === level).map(findingText)),
  ]
  return { objects: made, notes: textsOf('warning'), problems: textsOf('error') }
}

/** A GitRepo whose targets are these clusters. */
function forAllClusters(object: UnknownObject, allClusters: readonly LabelRequirement[] | undefined): UnknownObject {
  if (!allClusters || !isOfFleet(object, 'GitRepo')) return object
  const targets = [{ clusterSelector: { matchExpressions: allClusters } }]
  const { namespace = '' } = object.metadata
  return {
    ...object,
    // The workspace of the cluster that Fleet runs in has no other clusters.
    metadata: { ...object.metadata, namespace: namespace === LOCAL ? 'fleet-default' : namespace },
    spec: { ...(isObject(object['spec']) ? object['spec'] : {}), targets },
  }
}

const LOCAL = 'fleet-local'

function missingText(group: string, repos: readonly Repo[]): string {
  const local = repos.find(({ object }) => object.metadata.namespace === LOCAL && !object.spec['targets'])
  if (group === 'default' && local) {
    return `GitRepo ${local.object.metadata.name} is for the cluster that Fleet runs in (${LOCAL}); which Clusters are that here? say -l LABELS or --all-clusters`
  }
  return `targets name ClusterGroup ${group}, which is not in the files; give its YAML beside the GitRepo, or say who gets it with -l LABELS or --all-clusters`
}

/** A directory cannot be two repositories. */
function repositoryFindings(objects: readonly UnknownObject[]): Finding[] {
  const repos = objects.filter((one) => isOfFleet(one, 'GitRepo')).map((one) => textOf(asRepo(one), 'repo') ?? '')
  const urls = [...new Set(repos.filter((url) => url !== '').map((url) => url.replace(/\/+$|\.git\/*$/g, '')))]
  if (urls.length < 2) return []
  const message = `--root is one repository, and the GitRepos name ${urls.join(' and ')}; import those of each by themselves`
  return [{ level: 'error', message }]
}

const READ = ['GitRepo', 'ClusterGroup']
// Kinds whose content would be lost without a finding.
const LOST = ['HelmOp', 'Bundle']

/** Findings about other objects beside the GitRepos, which are not imported. */
function besides(objects: readonly UnknownObject[]): Finding[] {
  return objects
    .filter((one) => !READ.some((kind) => isOfFleet(one, kind)))
    .map((one): Finding => {
      const who = `${one.kind} ${one.metadata.name} is not taken over`
      const isLost = LOST.some((kind) => isOfFleet(one, kind)) && !one.metadata.labels?.[REPO_LABEL]
      return isLost
        ? {
            level: 'error',
            message: `${who}: only what GitRepos bring is; import its chart with flotilla bundle import helm`,
          }
        : { level: 'warning', message: who }
    })
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
        metadata: compact({
          name,
          namespace,
          labels: isBundle && Object.keys(ownLabels).length > 0 ? ownLabels : undefined,
          annotations: isBundle && Object.keys(ownAnnotations).length > 0 ? ownAnnotations : undefined,
        }),
        spec: object.spec,
      }
    })
}

/** Secrets are never copied; a finding names the Secrets to create. */
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
