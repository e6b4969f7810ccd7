/** `flotilla bundle import argo`: Applications and ApplicationSets of Argo CD as Flotilla's own objects. */
import type { Connection } from '../../api/connect.ts'
import { deliverImport } from './deliver-import.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readRepository } from '../../repository/repository-files.ts'
import { clustersOf } from '../../input/selector-flag.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

/** Flags of the import. */
export interface ImportArgoFlags {
  readonly namespace?: string
  readonly apply?: boolean
  readonly root?: readonly string[]
  readonly cluster?: readonly string[]
  readonly selector?: string
  readonly allClusters?: boolean
}

/** What the import works with. */
export interface ImportArgoInput {
  /** Asked for only where something is written. */
  connect(): Promise<Connection>
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly flags: ImportArgoFlags
}

/** Prints the objects, or writes them with `--apply`. */
export async function importArgo(file: string, { connect, terminal, stdin, flags }: ImportArgoInput): Promise<void> {
  const objects = (await readObjects([file], stdin)).map(({ object }) => object)
  const { importApplications, isOfArgo } = await import('../../../dialects/argo/import-applications.ts')
  const from = file === '-' ? 'stdin' : file
  if (!objects.some(isOfArgo)) {
    throw new CliError(EXIT.usage, {
      what: 'there is no Application and no ApplicationSet of Argo CD in it',
      where: from,
      why: `it holds ${[...new Set(objects.map(({ kind }) => kind))].join(', ')}`,
      todo: 'get them from Argo CD: kubectl get applicationsets.argoproj.io -n argocd -o yaml',
    })
  }
  const isForAll = flags.selector !== undefined || flags.allClusters === true
  const clusters = new Map((flags.cluster ?? []).map(pairOf))
  const allClusters = isForAll ? clustersOf(flags) : undefined
  const clones = (flags.root ?? []).map(cloneOf)
  const connection = flags.apply ? await connect() : undefined
  const namespace = flags.namespace ?? connection?.namespace ?? 'default'
  const imported = importApplications({
    objects,
    namespace,
    clusters,
    ...(allClusters ? { allClusters } : {}),
    clones,
  })
  await deliverImport({ from, ...imported }, { terminal, connection })
}

/** `DIR`, or `URL=DIR` where there are several repositories. */
function cloneOf(text: string): { readonly url?: string; readonly files: ReadonlyMap<string, Uint8Array> } {
  const [, url, directory = text] = /^((?:[a-z+]+:\/\/|[^/=]+@[^/=]+:).*)=([^=]*)$/.exec(text) ?? []
  return { ...(url === undefined ? {} : { url }), files: readRepository(directory) }
}

/** `https://10.0.0.1:6443=store-1`: what Argo CD calls a cluster, and its name here. */
function pairOf(text: string): [string, string] {
  const equals = text.lastIndexOf('=')
  if (equals > 0 && equals < text.length - 1) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new CliError(EXIT.usage, {
    what: `--cluster wants DESTINATION=NAME, not ${JSON.stringify(text)}`,
    todo: 'say what Argo CD calls the cluster (name or address), then its name here: --cluster in-cluster=store-1',
  })
}
