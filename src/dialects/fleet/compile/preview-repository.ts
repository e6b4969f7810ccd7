// Tested by src/cli/commands/preview/diff-fleet.contract.test.ts.
/** The objects that the hub would make of its GitRepos and other files, for previews of a change. */
import { GROUP } from '../../../kinds/define-kind.ts'
import { defaultObject } from '../../../kinds/validation/validate-object.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { findingText } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import type { GitRepo } from '../kinds.ts'
import { compileRepository } from './compile-repository.ts'
import { COMPILED, desiredOf, isOwnedBy } from './desired-objects.ts'
import { DEFAULT_WORKSPACE, WORKSPACE_LABEL } from './placement.ts'
import { gitRepoOf, groupOf, readGitRepoSpec } from './read-git-repo.ts'

/** The hub's objects, and the files of the change. */
export interface RepositoryPreviewInput {
  /** GitRepos of the hub whose repository has the files. */
  readonly repos: readonly GitRepo[]
  readonly groups: readonly UnknownObject[]
  readonly clusters: readonly Cluster[]
  readonly bundles: readonly Bundle[]
  /** Objects of the hub that a GitRepo can have made, by kind. Objects of a list have no kind of their own. */
  readonly present: Readonly<Record<string, readonly KubeObject[]>>
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** What the hub would have. Bundles are `namespace/name`. */
export interface RepositoryPreview {
  /** Objects that are new or different. */
  readonly objects: readonly KubeObject[]
  /** Bundles that the repository no longer has. */
  readonly removed: readonly string[]
  /** Bundles of directories that cannot be compiled, with the error: the hub keeps what it delivers. */
  readonly broken: ReadonlyMap<string, string>
}

/** Compiles each GitRepo as its controller does. */
export function previewRepositories(input: RepositoryPreviewInput): RepositoryPreview {
  const objects: KubeObject[] = []
  const removed: string[] = []
  const broken = new Map<string, string>()
  for (const repo of input.repos) {
    const gitRepo = gitRepoOf(repo)
    const findings: Finding[] = []
    const spec = readGitRepoSpec(repo.spec, findings)
    const read = compileRepository({
      gitRepo,
      spec,
      workspace: workspaceOf(gitRepo.namespace, input),
      files: input.files,
    })
    const desired = desiredOf(repo, read.bundles)
    for (const { kind, object } of desired) {
      // Rows for readers of Fleet's own kinds deliver nothing.
      if (kind.group !== GROUP) continue
      const present = input.present[kind.kind]?.find((one) => keyOf(one) === keyOf(object))
      if (present?.metadata.annotations?.[COMPILED] === object.metadata.annotations?.[COMPILED]) continue
      const stored = structuredClone(object)
      defaultObject(kind, stored)
      objects.push(stored)
    }
    const errors = [...findings, ...read.findings].filter(({ level }) => level === 'error')
    const wanted = new Set(read.bundles.map((one) => one.name))
    const missing = input.bundles.filter((bundle) => isOwnedBy(bundle, repo) && !wanted.has(bundle.metadata.name))
    const isWhole = read.failed.length === 0 && errors.length === 0 && read.bundles.length > 0
    for (const bundle of missing) {
      const key = keyOf(bundle)
      if (isWhole) removed.push(key)
      else broken.set(key, errors[0] ? findingText(errors[0]) : 'no bundle is found at the paths of the GitRepo')
    }
  }
  return { objects, removed, broken }
}

function workspaceOf(namespace: string, { clusters, groups, bundles }: RepositoryPreviewInput) {
  const own = clusters.filter(({ metadata }) => (metadata.labels?.[WORKSPACE_LABEL] ?? DEFAULT_WORKSPACE) === namespace)
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1)
  const factsOf = ({ metadata }: KubeObject) => ({ name: metadata.name, labels: metadata.labels ?? {} })
  return {
    groups: groups
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(groupOf)
      .toSorted(byName),
    clusters: own.map(factsOf),
    bundles: bundles
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(factsOf)
      .toSorted(byName),
    aliases: (alias: string) =>
      own
        .filter(({ spec }) =>
          (spec.aliases ?? []).some(
            ({ dialect, name }) => dialect === 'fleet' && name.slice(name.lastIndexOf('/') + 1) === alias,
          ),
        )
        .map(({ metadata }) => metadata.name)
        .toSorted(),
  }
}
