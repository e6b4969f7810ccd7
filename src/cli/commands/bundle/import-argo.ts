/** `flotilla bundle import argo`: Applications and ApplicationSets of Argo CD as Flotilla's own objects. */
import { compact } from '../../../core/compact.ts'
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

export interface ImportArgoInput {
  /** Called with --apply only. */
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
      where: from,
      what: 'no Application or ApplicationSet of Argo CD found',
      why: `the kinds are ${[...new Set(objects.map(({ kind }) => kind))].join(', ')}`,
      todo: 'export them with "kubectl get applicationsets.argoproj.io -n argocd -o yaml"',
    })
  }
  const isForAll = flags.selector !== undefined || flags.allClusters === true
  const clusters = new Map((flags.cluster ?? []).map(pairOf))
  const allClusters = isForAll ? clustersOf(flags) : undefined
  const clones = (flags.root ?? []).map(cloneOf)
  const connection = flags.apply ? await connect() : undefined
  const namespace = flags.namespace ?? connection?.namespace ?? 'default'
  const imported = importApplications(
    compact({
      objects,
      namespace,
      clusters,
      allClusters,
      clones,
    }),
  )
  await deliverImport({ from, ...imported }, { terminal, connection })
}

/** `DIR`, or `URL=DIR` for several repositories. */
function cloneOf(text: string): { readonly url?: string; readonly files: ReadonlyMap<string, Uint8Array> } {
  const [, url, directory = text] = /^((?:[a-z+]+:\/\/|[^/=]+@[^/=]+:).*)=([^=]*)$/.exec(text) ?? []
  return compact({ url, files: readRepository(directory) })
}

/** `https://10.0.0.1:6443=store-1`: a destination of Argo CD and the name of the cluster. */
function pairOf(text: string): [string, string] {
  const equals = text.lastIndexOf('=')
  if (equals > 0 && equals < text.length - 1) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new CliError(EXIT.usage, {
    what: `invalid --cluster ${JSON.stringify(text)}: must be DESTINATION=NAME`,
    todo: 'give the destination of Argo CD (name or address) and the name of the cluster: --cluster in-cluster=store-1',
  })
}
