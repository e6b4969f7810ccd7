/** Reads GitRepos and ClusterGroups without a hub, for `flotilla render`. */
import { RE2JS } from 're2js'
import { compact } from '../../../core/compact.ts'
import { toError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import type { LabelSelector } from '../../../core/text/label-selector.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { allowsSecrets } from '../../../kinds/fields/secrets-annotation.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { BundleCompileContext, CompiledBundle } from './compile-bundle.ts'
import { GIT_REPO } from '../fields.ts'
import { findingText, readFields } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { compileRepository } from './compile-repository.ts'
import type { RepositoryRequest } from './compile-repository.ts'
import type { FleetGroup } from './targets.ts'

/** The group of Fleet's kinds. */
export const FLEET_GROUP = 'fleet.cattle.io'

/** The part of a GitRepo's spec that says which files are read and for which clusters. */
export type GitRepoSpec = RepositoryRequest['spec']

/** The facts of a GitRepo that its Bundles depend on, besides its spec. */
export function gitRepoOf(repo: { readonly metadata: KubeObject['metadata'] }): BundleCompileContext['gitRepo'] {
  const { name, namespace = 'fleet-default', labels = {} } = repo.metadata
  return { namespace, name, labels, allowsSecrets: allowsSecrets(repo) }
}

/** Reads the spec of a GitRepo; errors and fields without effect are in the findings. */
export function readGitRepoSpec(spec: unknown, findings: Finding[]): GitRepoSpec {
  const report = (level: Finding['level'], _path: unknown, message: string): void =>
    void findings.push({ level, message: `spec.${message}` })
  const read = readFields(isObject(spec) ? spec : {}, GIT_REPO, { system: 'Fleet', report }) as GitRepoSpec &
    SecretFields
  const { helmSecretName = '', helmRepoURLRegex = '' } = read
  if (helmSecretName !== '' && helmRepoURLRegex === '') {
    report('warning', [], 'helmSecretName is sent nowhere without helmRepoURLRegex, as in Fleet')
  }
  try {
    RE2JS.compile(helmRepoURLRegex)
  } catch (caught) {
    report('error', [], `helmRepoURLRegex is no regular expression: ${toError(caught).message}`)
  }
  return read
}

interface SecretFields {
  readonly helmSecretName?: string
  readonly helmRepoURLRegex?: string
}

/** A ClusterGroup as targets use it. */
export function groupOf({ metadata, ...rest }: UnknownObject): FleetGroup {
  const spec = isObject(rest['spec']) ? rest['spec'] : {}
  const selector = isObject(spec['selector']) ? (spec['selector'] as LabelSelector) : undefined
  return compact({ name: metadata.name, labels: metadata.labels ?? {}, selector })
}

/** Whether an object is of a kind of Fleet. */
export function isOfFleet({ apiVersion, kind }: UnknownObject, wanted: string): boolean {
  return apiVersion.startsWith(`${FLEET_GROUP}/`) && kind === wanted
}

/** The Bundles that the GitRepos among some objects make of a repository's files, and the findings about them. */
export function bundlesOfFiles(
  objects: readonly UnknownObject[],
  files: ReadonlyMap<string, Uint8Array>,
): { readonly bundles: readonly Bundle[]; readonly findings: readonly string[] } {
  const findings: Finding[] = []
  const bundles = objects
    .filter((object) => isOfFleet(object, 'GitRepo'))
    .flatMap((object) => {
      const gitRepo = gitRepoOf(object)
      const groups = objects.filter((one) => isOfFleet(one, 'ClusterGroup')).map(groupOf)
      const read = compileRepository({
        gitRepo,
        spec: readGitRepoSpec(object['spec'], findings),
        workspace: { groups, aliases: () => [], clusters: [], bundles: [], isWhole: false },
        files,
      })
      findings.push(...read.findings)
      return read.bundles.map((bundle) => bundleObject(bundle, gitRepo.namespace))
    })
  return { bundles, findings: findings.map(findingText) }
}

/** The Bundles that a GitRepo for these directories would make, and the findings about their fleet.yaml files. */
export function compileDirectories(
  files: ReadonlyMap<string, Uint8Array>,
  directories: readonly string[],
): { readonly bundles: readonly Bundle[]; readonly findings: readonly Finding[] } {
  const read = compileRepository({
    gitRepo: { namespace: 'fleet-default', name: 'repository', labels: {} },
    spec: { paths: directories, targets: [{ clusterSelector: {} }] },
    workspace: { groups: [], aliases: () => [], clusters: [], bundles: [], isWhole: false },
    files,
  })
  return {
    bundles: read.bundles.map((bundle) => bundleObject(bundle, 'fleet-default')),
    findings: read.findings.filter(({ file }) => file !== undefined),
  }
}

/** A compiled directory as an object. */
export function bundleObject({ name, labels, annotations, spec }: CompiledBundle, namespace: string): Bundle {
  return {
    apiVersion: apiVersionOf(Bundle),
    kind: Bundle.kind,
    metadata: compact({
      name,
      namespace,
      labels: Object.keys(labels).length === 0 ? undefined : { ...labels },
      annotations: Object.keys(annotations).length === 0 ? undefined : { ...annotations },
    }),
    spec,
  }
}
