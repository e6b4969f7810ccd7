/** `flotilla bundle import fleet`: GitRepos of Rancher Fleet, or a directory with fleet.yaml files. */
import { statSync } from 'node:fs'
import { compact } from '../../../core/compact.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Connection } from '../../api/connect.ts'
import { deliverImport } from './deliver-import.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { nameFromUrl } from '../../../core/text/name-from-url.ts'
import { readRepository } from '../../repository/repository-files.ts'
import { clustersOf } from '../../input/selector-flag.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

/** Flags of the import. */
export interface ImportFleetFlags {
  readonly namespace?: string
  readonly apply?: boolean
  readonly root?: string
  readonly repo?: string
  readonly branch?: string
  readonly path?: readonly string[]
  readonly name?: string
  readonly selector?: string
  readonly allClusters?: boolean
}

export interface ImportFleetInput {
  /** Called with --apply only. */
  connect(): Promise<Connection>
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: ImportFleetFlags
}

/** Prints the objects, or writes them with `--apply`. */
export async function importFleet(from: string, { connect, terminal, stdin, flags }: ImportFleetInput): Promise<void> {
  const isDirectory = statSync(from, { throwIfNoEntry: false })?.isDirectory() ?? false
  const objects = isDirectory ? [gitRepoOf(flags)] : await givenObjects(from, stdin, flags)
  const files = readRepository(isDirectory ? from : (flags.root ?? '.'))
  const { importGitRepos } = await import('../../../dialects/fleet/import-git-repos.ts')
  const connection = flags.apply ? await connect() : undefined
  const namespace = flags.namespace ?? connection?.namespace ?? 'default'
  const isForAll = !isDirectory && (flags.selector !== undefined || flags.allClusters === true)
  const imported = importGitRepos(
    compact({
      objects,
      files,
      namespace,
      allClusters: isForAll ? clustersOf(flags) : undefined,
    }),
  )
  await deliverImport({ from: from === '-' ? 'stdin' : from, ...imported }, { terminal, connection })
}

const OF_DIRECTORY = ['repo', 'branch', 'path', 'name'] as const

async function givenObjects(
  file: string,
  stdin: AsyncIterable<Uint8Array>,
  flags: ImportFleetFlags,
): Promise<UnknownObject[]> {
  const odd = OF_DIRECTORY.find((name) => flags[name] !== undefined)
  if (odd !== undefined) {
    const flag = `--${odd}`
    throw new CliError(EXIT.usage, {
      what: `${flag} cannot be combined with a GitRepo; its spec.${odd === 'path' ? 'paths' : odd} is used`,
      todo: `omit ${flag}, or give a directory instead of ${file}`,
    })
  }
  const objects = (await readObjects([file], stdin)).map(({ object }) => object)
  if (objects.some(({ apiVersion, kind }) => kind === 'GitRepo' && apiVersion.startsWith('fleet.cattle.io/'))) {
    return objects
  }
  throw new CliError(EXIT.usage, {
    where: file,
    what: 'no GitRepo of Rancher Fleet found',
    why: `the kinds are ${[...new Set(objects.map(({ kind }) => kind))].join(', ')}`,
    todo: 'export it with "kubectl get gitrepos.fleet.cattle.io,clustergroups.fleet.cattle.io -n fleet-default -o yaml"',
  })
}

/** The GitRepo for a directory. */
function gitRepoOf(flags: ImportFleetFlags): UnknownObject {
  const { repo, branch, path, name } = flags
  const lacking = repo === undefined ? '--repo URL' : branch === undefined ? '--branch NAME' : undefined
  if (repo === undefined || branch === undefined) {
    throw new CliError(EXIT.usage, {
      what: `missing ${lacking}`,
      why: 'the hub fetches the repository of a directory from its URL',
      todo: 'give --repo URL --branch NAME, or a file with the GitRepo',
    })
  }
  return {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'GitRepo',
    metadata: { name: name ?? nameFromUrl(repo), namespace: 'fleet-default' },
    spec: compact({
      repo,
      branch,
      paths: path === undefined ? undefined : [...path],
      targets: [{ clusterSelector: { matchExpressions: clustersOf(flags) } }],
    }),
  }
}
